"""A streaming job of Spark writes an invoice for each order. It stops and starts again, as it does for every new version.

The test runs source, transformation and sink. It proves that orders without an amount get no invoice, and that the job goes on at its
checkpoint, so that no order is lost and none gets a second invoice.
"""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, from_json, struct, to_json

from odradek import assert_records, formats
from odradek.spark_sink import OdradekDataSource

QUICK = {"spark.ui.enabled": "false", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


def invoices_of(orders):
    order = from_json(col("value").cast("string"), "customer STRING, euros INT")
    cents = (col("order.euros") * 100).alias("cents")
    billed = orders.select(order.alias("order")).where("order.euros > 0")
    return billed.select(col("order.customer").alias("key"), to_json(struct(cents)).alias("value"))


def run_job(spark, bootstrap_servers, checkpoint):
    kafka = {"kafka.bootstrap.servers": bootstrap_servers}
    orders = spark.readStream.format("odradek").options(**kafka, subscribe="orders", startingOffsets="earliest").load()
    invoices = invoices_of(orders).writeStream.format("odradek").options(**kafka, topic="invoices", checkpointLocation=checkpoint)
    invoices.trigger(availableNow=True).start().awaitTermination()


@pytest.mark.kafka(topics={"orders": 1, "invoices": 1})
def test_restarted_job_writes_each_invoice_once(kafka_cluster, tmp_path):
    orders = kafka_cluster.topic("orders", value=formats.json)
    with SparkSession.builder.master("local[1]").config(map=QUICK).getOrCreate() as spark:
        spark.dataSource.register(OdradekDataSource)
        for batch in ([("alice", 5), ("bob", 0)], [("carol", 7)]):
            orders.produce_all([{"customer": customer, "euros": euros} for customer, euros in batch])
            run_job(spark, kafka_cluster.bootstrap_servers, str(tmp_path))
    invoices = kafka_cluster.topic("invoices", key=formats.text, value=formats.json)
    assert_records(invoices, [("alice", {"cents": 500}), ("carol", {"cents": 700})])

"""A streaming job of Spark stops and starts again while it writes invoices.

The test runs source, transformation and sink. It proves that orders without an
amount get no invoice, and that the job goes on at its checkpoint, so that no order
is lost and none gets a second invoice.
"""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, from_json, struct, to_json

from odradek import assert_records, formats
from odradek.spark_sink import OdradekDataSource

JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
QUICK = {"spark.ui.enabled": "false", "spark.driver.extraJavaOptions": JVM}


def invoices_of(orders):
    order = from_json(col("value").cast("string"), "customer STRING, euros INT")
    billed = orders.select(order.alias("order")).where("order.euros > 0")
    cents = struct((col("order.euros") * 100).alias("cents"))
    key = col("order.customer").alias("key")
    return billed.select(key, to_json(cents).alias("value"))


def run_job(spark, servers, checkpoint):
    kafka = {"kafka.bootstrap.servers": servers}
    source = {**kafka, "subscribe": "orders", "startingOffsets": "earliest"}
    sink = {**kafka, "topic": "invoices", "checkpointLocation": checkpoint}
    orders = spark.readStream.format("odradek").options(**source).load()
    invoices = invoices_of(orders).writeStream.format("odradek").options(**sink)
    invoices.trigger(availableNow=True).start().awaitTermination()


@pytest.mark.kafka(topics={"orders": 1, "invoices": 1})
def test_restarted_job_writes_each_invoice_once(kafka_cluster, tmp_path):
    place = kafka_cluster.bootstrap_servers, str(tmp_path)
    orders = kafka_cluster.topic("orders", value=formats.json)
    local = SparkSession.builder.master("local[1]").config(map=QUICK)
    with local.getOrCreate() as spark:
        spark.dataSource.register(OdradekDataSource)
        for batch in ({"alice": 5, "bob": 0}, {"carol": 7}):
            for name, euros in batch.items():
                orders.produce({"customer": name, "euros": euros})
            run_job(spark, *place)
    invoices = kafka_cluster.topic("invoices", key=formats.text, value=formats.json)
    expected = [("alice", {"cents": 500}), ("carol", {"cents": 700})]
    assert_records(invoices, expected)

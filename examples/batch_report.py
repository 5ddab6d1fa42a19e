"""Reports the orders of one day: a batch read of the records between two timestamps."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from confluent_kafka import Producer

from odradek import Cluster

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DAY = datetime(2026, 3, 1, tzinfo=UTC)
KEEP = {"log.retention.ms": -1}  # the records are older than the default retention of a week


def milliseconds(time: datetime) -> int:
    """Returns a time as a Kafka timestamp."""
    return int(time.timestamp() * 1000)


def place_orders(servers: str) -> None:
    """Writes orders of three customers over three days, one every two hours."""
    producer = Producer({"bootstrap.servers": servers})
    for number in range(36):
        order = {"customer": f"customer-{number % 3}", "euros": 5 * number}
        time = DAY - timedelta(days=1) + timedelta(hours=2 * number)
        producer.produce("orders", key=order["customer"], value=json.dumps(order), timestamp=milliseconds(time))
    producer.flush()


def report(spark: SparkSession, servers: str) -> DataFrame:
    """Returns the orders of each customer on DAY. Records before and after the day are not read."""
    from pyspark.sql.functions import count
    from pyspark.sql.functions import sum as sum_of

    records = (
        spark.read.format("odradek")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", "orders")
        .option("startingTimestamp", milliseconds(DAY))
        .option("startingOffsetsByTimestampStrategy", "latest")  # a partition may have no record of DAY or later
        .option("endingTimestamp", milliseconds(DAY + timedelta(days=1)))
        .load()
    )
    orders = records.selectExpr("from_json(string(value), 'customer string, euros int') AS parsed").select("parsed.*")
    return orders.groupBy("customer").agg(count("*").alias("orders"), sum_of("euros").alias("euros")).orderBy("customer")


def run(spark: SparkSession) -> None:
    """Starts two brokers, writes orders and prints the report."""
    with Cluster(nodes=2, topics={"orders": 4}, settings=KEEP) as cluster:
        place_orders(cluster.bootstrap_servers)
        report(spark, cluster.bootstrap_servers).show()


if __name__ == "__main__":
    from spark_session import spark_session

    session = spark_session("batch report")
    run(session)
    session.stop()

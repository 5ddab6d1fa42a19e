"""The recipes of docs/recipes without their explicit faults, which exploration has to find by itself.

A service whose request fails is started again, as a supervisor does, because exploration tries faults after which clients give up.
"""

from __future__ import annotations

from tests.recipes.recipes import text

OPTIONS = {
    "secured_client.py": ("--kafka-explore-damage",),  # no fault of its cluster shows whether a client trusts another one
    "spark_streaming.py": ("--kafka-explore-budget=300s",),
}
"""The options with which some of the recipes are explored."""

# For each recipe, its explicit fault, and what is left of the test without it.
WITHOUT_FAULTS = {
    "broker_down.py": [
        (
            """            leader = partition().leader
            (follower,) = {1, 2} - {leader}
            cluster.lag("orders", 0, follower)
            sending = await producer.send("orders", b"order 2")
            await asyncio.to_thread(cluster.wait_until, second_order_is_stored)
            cluster.stop_node(leader, graceful=False)
            cluster.clock.advance("9s")  # broker.session.timeout.ms: a new leader
            await asyncio.wait_for(sending, timeout=30)
""",
            '            await producer.send_and_wait("orders", b"order 2")\n            await asyncio.to_thread(second_order_is_stored)\n',
        )
    ],
    "consumer_crash.py": [
        ("from confluent_kafka import Consumer\n", "from confluent_kafka import Consumer, KafkaException\n"),
        ("    kafka_cluster, kafka_topic, kafka_faults, kafka_clock\n", "    kafka_cluster, kafka_topic\n"),
        (
            """    def crash(order):
        raise SystemExit(f"crashed with {order}")

""",
            "",
        ),
        (
            """    with start_consumer(*place, "first") as first:
        charge_next_order(first, charged.append)
        with pytest.raises(SystemExit):
            charge_next_order(first, crash)
        # The cluster hears no more of the first consumer.
        kafka_faults.add(client_id="first", drop=True, close="rst")
        kafka_clock.advance("45s")  # session.timeout.ms
        with start_consumer(*place, "second") as second:
            charge_next_order(second, charged.append)
    assert charged == [b"order 1", b"order 2"]
""",
            """    while b"order 3" not in charged:
        with start_consumer(*place, "shop") as consumer:
            try:
                while b"order 3" not in charged:
                    charge_next_order(consumer, charged.append)
            except KafkaException:
                continue
    assert set(charged) == {b"order 1", b"order 2", b"order 3"}
""",
        ),
        ("import pytest\n", ""),
    ],
    "duplicates_and_order.py": [
        ("from aiokafka import AIOKafkaConsumer\n", "from aiokafka import AIOKafkaConsumer\nfrom aiokafka.errors import KafkaError\n"),
        (
            """        for _ in VERSIONS:
            change = await asyncio.wait_for(consumer.getone(), timeout=10)
            apply(change, *application)
""",
            """        while sum(application[0].values()) < len(VERSIONS):
            change = await asyncio.wait_for(consumer.getone(), timeout=10)
            apply(change, *application)
            try:
                await consumer.commit()
            except KafkaError:
                continue
""",
        ),
        ('("first delivery", "second delivery")', '("only delivery",)'),
    ],
    "exactly_once.py": [
        ("from contextlib import asynccontextmanager\n", "from contextlib import AsyncExitStack, asynccontextmanager\n"),
        ("from aiokafka.errors import ProducerFenced\n", "from aiokafka.errors import KafkaError\n"),
        (
            '    group = {"group_id": orders, "auto_offset_reset": "earliest"}\n',
            """    group = {"group_id": orders, "auto_offset_reset": "earliest"}
    group["heartbeat_interval_ms"] = 3000 if client_id == "first" else 100
""",
        ),
        (
            """    async with worker as producer, reader as consumer:
        order = await asyncio.wait_for(consumer.getone(), timeout=10)
""",
            """    async with AsyncExitStack() as stack:
        consumer = await stack.enter_async_context(reader)
        order = await asyncio.wait_for(consumer.getone(), timeout=10)
        producer = await stack.enter_async_context(worker)
""",
        ),
        (
            """def test_invoice_of_a_frozen_worker_is_written_once(
    kafka_cluster, kafka_topic, kafka_faults, kafka_clock
):
    async def two_workers(*place):
        async with next_invoice("first", *place) as first:
            with kafka_faults.add(client_id="first", hang=True):
                kafka_clock.advance("10s")  # session_timeout_ms
                async with next_invoice("second", *place) as second:
                    await second.commit_transaction()
            with pytest.raises(ProducerFenced):
                await first.commit_transaction()

""",
            """@pytest.mark.kafka(settings={"group.initial.rebalance.delay.ms": 300})
def test_invoice_is_written_once(kafka_cluster, kafka_topic):
    def transactions():
        return [each.transaction for each in kafka_cluster.records(invoices)]

    async def work(client_id, *place):
        while "committed" not in transactions():
            try:
                async with next_invoice(client_id, *place) as producer:
                    await producer.commit_transaction()
            except KafkaError:
                continue

    async def two_workers(*place):
        workers = [asyncio.create_task(work(each, *place)) for each in ("first", "second")]
        await asyncio.wait(workers, return_when=asyncio.FIRST_COMPLETED)
        while "open" in transactions():
            await asyncio.wait(workers, timeout=0.1)
        for each in workers:
            each.cancel()
        await asyncio.wait(workers)

""",
        ),
        (
            """    written = [record.transaction for record in kafka_cluster.records(invoices)]
    assert written == ["aborted", "committed"]
""",
            """    assert transactions().count("committed") == 1
""",
        ),
        (
            '    kafka_cluster.produce(kafka_topic, ["order 1"])\n',
            '    kafka_cluster.create_topic(invoices)\n    kafka_cluster.produce(kafka_topic, ["order 1"])\n',
        ),
    ],
    "lost_acks.py": [("        lost = kafka_faults.lost_acks(kafka_topic)\n", ""), ("        lost.wait(hits=1)\n", "")],
    "offset_reset.py": [
        (
            """@pytest.mark.parametrize(
    ("days", "policy", "expected"),
    [
        (6, "none", b"missed"),
        (8, "earliest", b"processed"),
        (8, "latest", b"new"),
        (8, "none", None),
    ],
)
def test_service_goes_on_where_its_policy_says(
    kafka_cluster, kafka_topic, kafka_clock, days, policy, expected
):
""",
            """@pytest.mark.kafka_explore(also=["offsets-expired"])
def test_service_goes_on_where_its_policy_says(kafka_cluster, kafka_topic):
""",
        ),
        (
            """    kafka_clock.advance(days=days)  # offsets.retention.minutes is seven days
    with start_service(*place, policy) as service:
        if expected is None:
            with pytest.raises(NoOffsetForPartitionError):
                service.position(place[1])
        else:
            service.position(place[1])
            kafka_cluster.produce(kafka_topic, ["new"])
            assert next(service).value == expected
""",
            """    with start_service(*place, "none") as service:
        try:
            service.position(place[1])
        except NoOffsetForPartitionError:
            return
        assert next(service).value == b"missed"
""",
        ),
    ],
    "poison_message.py": [
        ("from kafka.errors import PolicyViolationError\n", "from kafka.errors import KafkaError\n"),
        (
            """def test_poison_message_becomes_a_dead_letter(
    kafka_cluster, kafka_topic, kafka_faults
):
""",
            """@pytest.mark.kafka_explore(also=["refused"])
def test_poison_message_becomes_a_dead_letter(kafka_cluster, kafka_topic):
""",
        ),
        (
            """    refusal = kafka_faults.add(api="Produce", error="POLICY_VIOLATION")
    with refusal, pytest.raises(PolicyViolationError):
        serve(*service, messages=2)
    serve(*service, messages=2)
    assert handled == [{"order": 1}]
    (dead,) = kafka_cluster.records(f"{kafka_topic}.dead")
    assert (dead.value, dead.headers) == (b"poison", (("offset", b"0"),))
""",
            """    while {"order": 1} not in handled:
        try:
            serve(*service, messages=1)
        except KafkaError:
            continue
    dead = {each.value for each in kafka_cluster.records(f"{kafka_topic}.dead")}
    assert dead == {b"poison"}
""",
        ),
    ],
    "rebalance.py": [
        (
            """def test_order_of_a_revoked_partition_is_processed_once(kafka_cluster, kafka_topic):
    processed, group = [], kafka_cluster.group(kafka_topic)
""",
            """@pytest.mark.kafka_explore(without=["session-expired", "cut-off"])
def test_order_of_a_revoked_partition_is_processed_once(kafka_cluster, kafka_topic):
    processed = []
""",
        ),
        (
            """    def joined():
        return len(group.members) == 2 and group.state == "Stable"

""",
            "",
        ),
        (
            """        with start_worker(*place) as second:
            work([first, second], processed, joined)
            kafka_cluster.produce(kafka_topic, ["order 5", "order 6"])
            work([first, second], processed, lambda: len(processed) >= 6)
""",
            """        work([first], processed, lambda: False, turns=40)
        kafka_cluster.produce(kafka_topic, ["order 5", "order 6"])
        work([first], processed, lambda: len(processed) >= 6)
""",
        ),
    ],
    "retention_expiry.py": [
        (
            """def test_expired_orders_are_counted_a_week_later(
    kafka_cluster, kafka_topic, kafka_clock
):
""",
            """@pytest.mark.kafka_explore(also=["records-expired"])
def test_expired_orders_are_counted_a_week_later(kafka_cluster, kafka_topic):
""",
        ),
        (
            """    assert asyncio.run(start_and_read(*place)) == (0, b"order 1")
    kafka_clock.advance(days=8)
    kafka_cluster.produce(kafka_topic, ["order 4"])
    assert asyncio.run(start_and_read(*place)) == (2, b"order 4")
""",
            """    expired, order = asyncio.run(start_and_read(*place))
    read = expired + 1
    assert order == b"order %d" % read
    kafka_cluster.produce(kafka_topic, ["order 4"])
    expired, order = asyncio.run(start_and_read(*place))
    assert order == b"order %d" % (read + expired + 1)
""",
        ),
    ],
    "secured_client.py": [
        ("from confluent_kafka import Producer\n", "from confluent_kafka import KafkaError, Producer\n"),
        (
            """    producer = Producer({**settings, "error_cb": outcomes.append,""",
            """    def add_error(error):
        if error.code() not in (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN):
            outcomes.append(error)

    settings = {**settings, "enable.idempotence": True, "message.timeout.ms": 15000}
    producer = Producer({**settings, "error_cb": add_error,""",
        ),
        (
            """@pytest.mark.parametrize(
    ("mistake", "topic", "expected"),
    [
        ({}, "orders", "stored"),
        ({}, "salaries", "Topic authorization failed"),
        ({"sasl.password": "wrong"}, "orders", "SASL authentication error"),
        ({"ssl.ca.location": "probe"}, "orders", "certificate verify failed"),
    ],
)
def test_order_of_the_shop_needs_trust_and_rights(
    make_kafka_cluster, mistake, topic, expected
):
""",
            "def test_order_of_the_shop_is_stored(make_kafka_cluster):\n",
        ),
        ("import pytest\n", ""),
        (
            """    settings = {**cluster.client_config("librdkafka"), **mistake}
    assert expected in place_order(settings, topic, b"order 1")
""",
            """    settings = cluster.client_config("librdkafka")
    assert place_order(settings, "orders", b"order 1") == "stored"
""",
        ),
        ('([b"order 1"] if expected == "stored" else [])', '[b"order 1"]'),
    ],
    "slow_broker.py": [
        (
            """    return KafkaProducer(bootstrap_servers=servers, **limits)
""",
            """    limits = {name: 4 * limit for name, limit in limits.items()}  # other tests run too
    return KafkaProducer(bootstrap_servers=servers, **limits)
""",
        ),
        ("PATIENCE_S = 10", "PATIENCE_S = 15"),
        (
            """@pytest.mark.parametrize(
    ("late_answers", "expected"), [(1, "confirmed"), (None, "unknown")]
)
def test_order_has_an_outcome_in_time(
    kafka_cluster, kafka_topic, kafka_faults, late_answers, expected
):
    slow = {"api": "Produce", "topic": kafka_topic, "delay_ms": 600_000}
""",
            """@pytest.mark.kafka_explore(also=["no-response"])
def test_order_has_an_outcome_in_time(kafka_cluster, kafka_topic):
""",
        ),
        ("        fault = kafka_faults.add(**slow, times=late_answers)\n", ""),
        ("== expected\n    fault.wait(hits=late_answers or 2)\n", '== "confirmed"\n'),
    ],
    "spark_streaming.py": [
        ("import pytest\n", "import pytest\nfrom pyspark.errors import StreamingQueryException\n"),
        ("def run_job(spark, servers, checkpoint):", "def start_job(spark, servers, checkpoint):"),
        (
            "    invoices.trigger(availableNow=True).start().awaitTermination()\n",
            """    return invoices.start()


def supervise(job, done):
    query = job()
    while not done():
        try:
            query.awaitTermination(0.1)
        except StreamingQueryException:
            query = job()
    query.stop()


@pytest.fixture(scope="module")
def spark():
    local = SparkSession.builder.master("local[1]").config(map=QUICK)
    with local.getOrCreate() as session:
        session.dataSource.register(OdradekDataSource)
        yield session
""",
        ),
        (
            """def test_restarted_job_writes_each_invoice_once(kafka_cluster, tmp_path):
""",
            """@pytest.mark.kafka_explore(also=["refused"])
def test_job_writes_each_invoice_once(kafka_cluster, tmp_path, spark):
""",
        ),
        (
            """    local = SparkSession.builder.master("local[1]").config(map=QUICK)
    with local.getOrCreate() as spark:
        spark.dataSource.register(OdradekDataSource)
        for batch in ({"alice": 5, "bob": 0}, {"carol": 7}):
            for name, euros in batch.items():
                orders.produce({"customer": name, "euros": euros})
            run_job(spark, *place)
    invoices = kafka_cluster.topic("invoices", key=formats.text, value=formats.json)
""",
            """    invoices = kafka_cluster.topic("invoices", key=formats.text, value=formats.json)

    def writes(count):
        return lambda: len(invoices.records()) >= count

    def order(name, euros):
        orders.produce({"customer": name, "euros": euros})

    def next_order_is_placed():
        if writes(1)() and len(orders.records()) == 2:
            order("carol", 7)
        return writes(2)()

    order("alice", 5)
    order("bob", 0)
    supervise(lambda: start_job(spark, *place), next_order_is_placed)
""",
        ),
    ],
}


def recipe_of(name: str, *, correct: bool) -> str:
    """Returns a recipe without its fault, correct or with its mistake. Raises ValueError if it does not contain its fault once."""
    recipe = text(name, protected=correct)
    for fault, rest in WITHOUT_FAULTS[name]:
        if recipe.count(fault) != 1:
            raise ValueError(f"{name} must contain {fault!r} once")
        recipe = recipe.replace(fault, rest)
    return recipe

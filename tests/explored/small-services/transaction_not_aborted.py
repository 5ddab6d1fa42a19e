"""A worker goes on after an error in a transaction. Its twin aborts and begins again, with a new producer if it has to stop."""

from confluent_kafka import KafkaException, Producer


def transfer(servers, topic, bookings):
    for _ in range(5):
        producer = Producer({"bootstrap.servers": servers, "transactional.id": "transfers", "log_level": 0})
        try:
            producer.init_transactions(10)
            producer.begin_transaction()
            for booking in bookings:
                producer.produce(topic, booking)
            producer.flush(10)
            producer.commit_transaction(10)
        except KafkaException as error:
            if error.args[0].txn_requires_abort():
                producer.abort_transaction(10)
            continue
        return


def test_transfer_is_booked_once(kafka_cluster, kafka_topic):
    transfer(kafka_cluster.bootstrap_servers, kafka_topic, [b"-5", b"+5"])
    booked = [record.value for record in kafka_cluster.records(kafka_topic) if record.transaction == "committed"]
    assert booked == [b"-5", b"+5"]

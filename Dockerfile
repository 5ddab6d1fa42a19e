FROM python:3.13-slim

WORKDIR /opt/odradek
COPY pyproject.toml README.md LICENSE __init__.py py.typed ./
COPY broker broker
COPY protocol protocol
COPY storage storage
COPY plugin plugin
COPY spark_sink spark_sink
RUN pip install --no-cache-dir ".[uvloop,tls]" && useradd --system --no-create-home odradek

USER odradek
EXPOSE 9092 9093
# The default address, unless KAFKA_LISTENERS or KAFKA_ADVERTISED_LISTENERS is set. Clients receive 127.0.0.1, where
# `docker run -p 9092:9092` publishes the port. A listener in the environment also means one node, because a second node would need a second
# published port; `serve --nodes 2` overrides that.
ENV KAFKA_HOST_NAME=0.0.0.0
HEALTHCHECK --interval=5s --timeout=5s --start-period=10s CMD ["odradek", "healthcheck"]
ENTRYPOINT ["odradek"]
CMD ["serve"]

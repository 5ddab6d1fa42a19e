# The version is exact, so that a build can be repeated. To update it, look up the newest patch release of the tag `slim-trixie` at
# https://hub.docker.com/_/python and change this line, which both stages use. To pin the digest as well, append the one that
# `docker buildx imagetools inspect python:<tag>` prints first, that of the index for all architectures: python:<tag>@sha256:...
FROM python:3.13.15-slim-trixie AS base

FROM base AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE __init__.py __main__.py py.typed ./
COPY broker broker
COPY protocol protocol
COPY storage storage
COPY plugin plugin
COPY simulation simulation
COPY spark_sink spark_sink
# The environment contains no pip. pyproject.toml says which versions of the dependencies fit.
# hadolint ignore=DL3013
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels . \
 && python -m venv --without-pip /opt/odradek \
 && pip --python /opt/odradek/bin/python install --no-cache-dir "odradek[uvloop,tls] @ file://$(echo /wheels/odradek-*.whl)"

FROM base
LABEL org.opencontainers.image.title="odradek" \
      org.opencontainers.image.description="A Kafka-compatible broker emulator that starts in a blink" \
      org.opencontainers.image.source="https://github.com/odradek-kafka/odradek" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="docker.io/library/python:3.13.15-slim-trixie"
COPY --from=build /opt/odradek /opt/odradek
# For `serve --data-dir /var/lib/odradek`. A new volume gets the owner of the folder. Without the option nothing is written to it.
RUN install --directory --owner=65532 --group=65532 --mode=0700 /var/lib/odradek
VOLUME /var/lib/odradek
# The default address, unless KAFKA_LISTENERS or KAFKA_ADVERTISED_LISTENERS is set. Clients receive 127.0.0.1, where
# `docker run -p 127.0.0.1:9092:9092` publishes the port. A listener in the environment also means one node, because a second node would need a second
# published port; `serve --nodes 2` overrides that.
ENV KAFKA_HOST_NAME=0.0.0.0
ENV PATH=/opt/odradek/bin:$PATH
# The base image lacks the bytecode of the standard library, and the user below may not write it. This run, as root, writes 3 MB of it, so
# that no start and no health check compiles these modules again, which would take three times as long.
RUN odradek serve --port 0 --exec "odradek healthcheck"
# A number, because Kubernetes cannot tell whether a name stands for root (runAsNonRoot).
USER 65532:65532
WORKDIR /tmp
EXPOSE 9092 9093
STOPSIGNAL SIGTERM
# The start interval needs Docker 25; older ones check after 5 s for the first time.
HEALTHCHECK --interval=5s --timeout=5s --start-period=10s --start-interval=1s CMD ["odradek", "healthcheck"]
ENTRYPOINT ["odradek"]
CMD ["serve"]

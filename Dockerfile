FROM python:3.13-slim

WORKDIR /opt/odradek
COPY pyproject.toml README.md LICENSE __init__.py py.typed ./
COPY broker broker
COPY protocol protocol
COPY storage storage
COPY spark_sink spark_sink
RUN pip install --no-cache-dir ".[uvloop]" && useradd --system --no-create-home odradek

USER odradek
EXPOSE 9092 9093
HEALTHCHECK --interval=5s --timeout=5s --start-period=10s CMD ["odradek", "healthcheck"]
ENTRYPOINT ["odradek"]
CMD ["serve", "--host", "0.0.0.0"]

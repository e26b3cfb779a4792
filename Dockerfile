# Two stages: the first installs what a running service needs, by hash; only the result goes into the second.
ARG PYTHON_IMAGE=python:3.13-slim
FROM ${PYTHON_IMAGE} AS build
WORKDIR /src
RUN python3 -m venv /opt/footnote
COPY requirements-service.lock ./
RUN /opt/footnote/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements-service.lock
COPY pyproject.toml README.md LICENSE ./
COPY bot bot
COPY core core
COPY storage storage
RUN /opt/footnote/bin/pip install --no-cache-dir --no-deps --no-build-isolation --no-index .

FROM ${PYTHON_IMAGE}
# 10001 is no user of the host. A folder that is mounted over /data must belong to this number.
RUN useradd --uid 10001 --create-home footnote && install -d -o footnote /data
COPY --from=build /opt/footnote /opt/footnote
ENV PATH=/opt/footnote/bin:$PATH FOOTNOTE_DATA_DIR=/data PYTHONUNBUFFERED=1
USER footnote
WORKDIR /home/footnote
# The database and the index. One container at a time: the embedded index has one opener.
VOLUME /data
# The pages listen inside the container. [web] open_to_network still decides which of them strangers may open.
ENV FOOTNOTE_WEB__HOST=0.0.0.0
EXPOSE 8420
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8420/healthz', timeout=5)"]
# SIGTERM stops it in a few seconds. Unfinished work resumes at the next start.
CMD ["footnote", "serve"]

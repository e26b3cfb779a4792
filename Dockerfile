# Two stages: the first installs what a running service needs, by hash; only the result goes into the second.
FROM python:3.13-slim AS build
WORKDIR /src
RUN python -m venv /opt/footnote
COPY requirements-service.lock ./
RUN /opt/footnote/bin/pip install --no-cache-dir --require-hashes -r requirements-service.lock
COPY pyproject.toml README.md LICENSE ./
COPY bot bot
COPY core core
COPY storage storage
RUN /opt/footnote/bin/pip install --no-cache-dir --no-deps .

FROM python:3.13-slim
# 10001 is no user of the host; whoever mounts a folder over /data gives it to this number.
RUN useradd --uid 10001 --create-home footnote && install -d -o footnote /data
COPY --from=build /opt/footnote /opt/footnote
ENV PATH=/opt/footnote/bin:$PATH FOOTNOTE_DATA_DIR=/data PYTHONUNBUFFERED=1
USER footnote
WORKDIR /home/footnote
# The database and the index. One container at a time: the embedded index has one opener.
VOLUME /data
# The pages listen inside the container; which of them strangers may open is still for [web] open_to_network to say.
ENV FOOTNOTE_WEB__HOST=0.0.0.0
EXPOSE 8420
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8420/healthz', timeout=5)"]
# SIGTERM stops it in a few seconds; what is unfinished goes on at the next start.
CMD ["footnote", "serve"]

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
# `footnote serve` takes this place, with its health address as HEALTHCHECK, when it exists.
CMD ["footnote", "--help"]

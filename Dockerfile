# The image of cutter: the three workers and the commands. A person gives each container only its own passwords and key.
#
#   docker build --tag cutter .
#   docker run --rm cutter cutter --help

FROM python:3.11.14-slim-bookworm

RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends gnupg \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/cutter
COPY requirements.lock ./
RUN python -m pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock

COPY pyproject.toml README.md worker.py ./
COPY cutter cutter
COPY temporal temporal
COPY workflows workflows
COPY activities activities
COPY starter starter
RUN printf '#!/bin/sh\nexec python -m starter.cli "$@"\n' >/usr/local/bin/cutter && chmod 755 /usr/local/bin/cutter
ENV PYTHONPATH=/opt/cutter PYTHONUNBUFFERED=1

# The state folder of a container. The compose file mounts the parts that a worker needs.
WORKDIR /var/lib/cutter
ENV CUTTER_STATE_DIR=/var/lib/cutter HOME=/tmp
CMD ["cutter", "doctor"]

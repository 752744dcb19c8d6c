# What `make extras` installs, from the same lock, for machines that run containers. The project itself is mounted:
#   docker build --tag cooperation .
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/work" --shm-size 1g cooperation snakemake --cores 8
# Apptainer, as on clusters: apptainer build cooperation.sif docker-daemon://cooperation:latest
FROM python:3.11-slim-bookworm

# git says which commit made a file. Debian keeps one version of it only, so none is named.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git make \
    && rm -rf /var/lib/apt/lists/*

COPY requirements-extras.txt /
RUN pip install --no-cache-dir --require-hashes --requirement /requirements-extras.txt

# The package is run from the sources that are mounted; a user whom the image doesn't know has no home.
ENV PYTHONPATH=/work/src HOME=/tmp
WORKDIR /work

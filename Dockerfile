# One image for the API and for workers. Targets: `programs` (the interpreter and the packages that judged programs may
# import, the images of --sandbox=docker) and the last one, `service`. Every Python package is installed by hash from
# requirements/*.txt, and byte code does not depend on file times, so that two builds hold the same files.
ARG PYTHON_IMAGE=python:3.13-slim-trixie

FROM ${PYTHON_IMAGE} AS installer
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PYTHONDONTWRITEBYTECODE=1 SOURCE_DATE_EPOCH=0
WORKDIR /build
# For the zygotes' helper; this stage stays behind.
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev
COPY requirements/programs.txt requirements/
RUN --mount=type=cache,target=/root/.cache/pip \
    python3 -m venv --without-pip /opt/programs \
    && pip --python /opt/programs/bin/python install --no-compile --require-hashes -r requirements/programs.txt
COPY requirements/service.txt requirements/build.txt requirements/
RUN --mount=type=cache,target=/root/.cache/pip \
    python3 -m venv --without-pip /opt/microcoder \
    && pip --python /opt/microcoder/bin/python install --no-compile --require-hashes -r requirements/service.txt \
    && python3 -m venv --without-pip /build/tools \
    && pip --python /build/tools/bin/python install --no-compile --require-hashes -r requirements/build.txt
COPY deploy/image/slim.sh ./
RUN ./slim.sh /opt/programs/lib/python3*/site-packages /opt/microcoder/lib/python3*/site-packages \
    && python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/programs/lib
COPY LICENSE README.md pyproject.toml ./
COPY scripts/build_hook.py scripts/
COPY comparators comparators
COPY sandbox sandbox
COPY service service
COPY trainer_client trainer_client
RUN /build/tools/bin/python -m hatchling build -t wheel -d dist \
    && pip --python /opt/microcoder/bin/python install --no-compile --no-deps --no-index dist/*.whl \
    && python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/microcoder/lib \
    && mkdir -p /opt/harness/sandbox \
    && cp -r sandbox/harness sandbox/container /opt/harness/sandbox/ \
    && python3 -m compileall -q --invalidation-mode unchecked-hash /opt/harness

# The base without what only a build needs.
FROM ${PYTHON_IMAGE} AS base
RUN python3 -m pip uninstall --yes --quiet pip --root-user-action=ignore \
    && groupadd --gid 1000 microcoder \
    && useradd --uid 1000 --gid 1000 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin microcoder

# What a jail shows, gathered: libraries, a few harmless programs, an interpreter, its packages, the harness. No shell.
FROM base AS shown
COPY --from=installer /opt/harness /shown/opt/harness
COPY --from=installer /opt/programs /shown/opt/programs
RUN mkdir -p /shown/box /shown/dev /shown/etc /shown/proc /shown/sys /shown/var /shown/usr/bin /shown/usr/local/bin \
        /shown/usr/share \
    && cp -a /bin /lib* /shown/ \
    && cp -a /usr/lib* /shown/usr/ \
    && cp -a /usr/local/lib /shown/usr/local/ \
    && cp -a /usr/share/zoneinfo /shown/usr/share/ \
    && cp -a /etc/ld.so.cache /shown/etc/ \
    && for name in cat echo false sleep true; do cp -a "/usr/bin/$name" /shown/usr/bin/; done \
    && for path in /usr/bin/python3* /usr/local/bin/python3*; do if [ -e "$path" ]; then cp -a "$path" "/shown$path"; fi; done \
    && find /shown -xdev -type f -perm /6000 -exec chmod ug-s {} + \
    && chmod 0777 /shown/box \
    && ln -s /box/tmp /shown/tmp && ln -s /box/tmp /shown/var/tmp

FROM scratch AS programs
LABEL org.opencontainers.image.title="MicroCoder-Evaluator, programs" \
      org.opencontainers.image.description="Where --sandbox=docker runs programs" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=shown /shown /
USER 1000:1000
CMD ["/opt/programs/bin/python"]

FROM base AS service
ARG VERSION=0.1.0
ARG REVISION=unknown
RUN apt-get update \
    && apt-get install -y --no-install-recommends libnl-route-3-200 tini \
    && rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/dpkg.log /var/cache/debconf/*-old
COPY --from=installer /opt/programs /opt/programs
COPY --from=installer /opt/microcoder /opt/microcoder
COPY deploy/image/healthcheck.py deploy/image/memory_groups.py /opt/microcoder/
ENV PATH=/opt/microcoder/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONUNBUFFERED=1 \
    MICROCODER_HOST=0.0.0.0 \
    MICROCODER_PORT=8000 \
    MICROCODER_PYTHON=/opt/programs/bin/python
LABEL org.opencontainers.image.title="MicroCoder-Evaluator" \
      org.opencontainers.image.description="Judges model-written programs in nsjail sandboxes, as the reward of reinforcement learning" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
USER 1000:1000
WORKDIR /tmp
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["/opt/microcoder/bin/python", "-I", "-S", "/opt/microcoder/healthcheck.py"]
# Reaps what the jails of a killed worker leave behind, and passes signals on.
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["microcoder", "serve"]

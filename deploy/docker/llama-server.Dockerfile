# An agent together with the engine that it starts: Farmgate is put into the engine's own image, so that its CUDA, ROCm
# or Vulkan libraries stay as their makers built them. In the folder of the checkout:
#   docker build -f deploy/docker/Dockerfile -t farmgate .
#   docker build -f deploy/docker/llama-server.Dockerfile -t farmgate-llama-server deploy/docker
#   docker run -d --init --gpus all -p 8401:8401 -v /srv/models:/models:ro -v "$PWD/farm:/etc/farmgate:ro" \
#     --env-file keys.env --stop-timeout 330 farmgate-llama-server --config /etc/farmgate/agent.yaml
# The agent's file has `command: "/app/llama-server -m /models/coder.gguf --host 127.0.0.1 --port 9001"` for each model.
#
# The engine's image needs glibc 2.28 and libstdc++, as every image with a C++ engine has.

ARG FARMGATE=farmgate
ARG ENGINE=ghcr.io/ggml-org/llama.cpp:server-cuda
FROM ${FARMGATE} AS farmgate

FROM ${ENGINE}
COPY --from=farmgate /usr/local/bin/node /usr/local/bin/node
COPY --from=farmgate /opt/farmgate /opt/farmgate
ENV NODE_ENV=production
WORKDIR /opt/farmgate
USER 1000:1000
EXPOSE 8401
STOPSIGNAL SIGTERM
# In place of the engine's own, which would ask a port where nothing listens while no model is loaded.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "/opt/farmgate/healthcheck.mjs", "http://127.0.0.1:8401/health"]
ENTRYPOINT ["node", "/opt/farmgate/cli/dist/main.js", "agent"]

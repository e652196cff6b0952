# The image of the supervisor and its collector, of a folder with the two programs: `make image` builds it, and so does
# the script of a docker install.
#
# The base has certificates, a user with a home, and no shell.
FROM gcr.io/distroless/static-debian12:nonroot
COPY headgate-supervisor otelcol-contrib /usr/local/bin/
# In the user's home, the one folder that is theirs; a Kubernetes pod mounts a volume there.
ENV HEADGATE_STORAGE=/home/nonroot/headgate \
    HEADGATE_COLLECTOR=/usr/local/bin/otelcol-contrib \
    HEADGATE_HEALTH_ENDPOINT=:13143
USER 65532:65532
EXPOSE 13143
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/headgate-supervisor"]

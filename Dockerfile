# parley in a container: one node, or any parley command.
#
# The program is one static file. It stands on Alpine, not on an empty image: the
# commands of agents need a shell's tools, and the git program carries the record
# by ssh and https with the credentials that an operator knows how to give it.
# (parley can do without git; "FROM scratch" with the same file is enough for that.)

FROM golang:1.26-alpine AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/parley ./cmd/parley

FROM alpine:3.22
RUN apk add --no-cache ca-certificates git openssh-client \
 && adduser -D -u 1000 parley \
 && install -d -o parley -g parley -m 0700 /var/lib/parley /srv/record
COPY --from=build /out/parley /usr/local/bin/parley
COPY configs/compose/entrypoint.sh /usr/local/bin/parley-entrypoint
USER parley
# A folder inside the volume, because a volume may hold things of its own.
ENV PARLEY_HOME=/var/lib/parley/home
WORKDIR /var/lib/parley
VOLUME /var/lib/parley
EXPOSE 4223
# The node finishes what it has begun within five seconds.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --start-interval=1s CMD ["parley", "status"]
ENTRYPOINT ["parley-entrypoint"]
CMD ["--help"]

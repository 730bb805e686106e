# The image of the action, built by GitHub's runner from this file. Everything
# here is understood by Docker's classic builder too, which self-hosted runners,
# Gitea's and Forgejo's runners and act still use: no RUN --mount, no heredoc,
# no COPY --chmod. A registry mirror or a digest is chosen by the two arguments.
ARG GO_IMAGE=golang:1.26
# The distribution of GitHub's hosted runners: what an earlier step compiled
# there finds the C and C++ libraries it was linked with.
ARG BASE_IMAGE=ubuntu:26.04

FROM ${GO_IMAGE} AS build
WORKDIR /src
# No "go mod download" before this: it would fetch the development tools of
# go.mod as well, in every job that uses the action.
COPY go.mod go.sum ./
COPY cmd cmd
COPY pkg pkg
# Empty unless a release sets it: then the version is the one in the source.
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath \
      -ldflags "-s -w ${VERSION:+-X main.version=${VERSION}}" \
      -o /noslower ./cmd/noslower

FROM ${BASE_IMAGE}
# valgrind counts instructions, which a container may not ask the processor for;
# git tells the commit; certificates are for the artifact service.
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      ca-certificates git valgrind \
 && rm -rf /var/lib/apt/lists/*
COPY LICENSE /usr/share/doc/noslower/LICENSE
COPY --from=build /noslower /usr/local/bin/noslower

LABEL org.opencontainers.image.title="noslower" \
      org.opencontainers.image.description="Fails a build that made the program slower" \
      org.opencontainers.image.source="https://github.com/noslower/noslower" \
      org.opencontainers.image.documentation="https://github.com/noslower/noslower#readme" \
      org.opencontainers.image.licenses="Apache-2.0"

# The benchmark's environment is an allow-list here: the job's names host paths.
ENV NOSLOWER_CONTAINER=1

# The exec form, without a shell between the runner and the program: dash drops
# variables with a hyphen in their name, and so inputs such as INPUT_SAVE-BASELINE.
# Root, as the runner wants it: another user could not write to the workspace.
ENTRYPOINT ["/usr/local/bin/noslower"]

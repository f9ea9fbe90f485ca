#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/message.h"
#include "engine/runs/run_store.h"

namespace engine {

/// A verdict as the page of a run shows it.
struct ServedVerdict {
    std::string tone;  ///< name(VerdictTone)
    Message headline;
    std::vector<Message> cost;      ///< parts of a sentence
    std::vector<Message> evidence;  ///< sentences
    std::string details;            ///< both in English
};

struct ServeOptions {
    std::string bind = "127.0.0.1";
    int port = 0;  ///< 0: any that is free
    /// Holds the token that a client must know; empty: none is asked for, which only addresses of
    /// loopback may do.
    std::filesystem::path token_file = {};
    /// The one run that is shown; empty: all of the history.
    std::filesystem::path run_folder = {};
    /// Judges a run beside the others of its comparison. Called on threads of the server, for a run
    /// again only when it has changed, and at most every 15 seconds.
    std::function<std::optional<ServedVerdict>(const RunSummary& run)> verdict = {};
};

/// Serves a page on runs over HTTP, which is not encrypted: read-only, in memory that does not
/// depend on the length of the runs (train-there-watch-here.md).
class RunServer {
public:
    /// Listens from here on. Throws Error(settings) for an address beyond loopback without a token
    /// and for a token that is not one; Error(io) if the address or the port cannot be used.
    RunServer(std::shared_ptr<RunStore> store, ServeOptions options);
    /// Waits for the answers in flight.
    ~RunServer();
    RunServer(const RunServer&) = delete;
    RunServer& operator=(const RunServer&) = delete;

    int port() const;
    /// "http://127.0.0.1:8421/"
    std::string address() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace engine

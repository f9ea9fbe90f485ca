#include "engine/runs/run_server.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "io/file/lease.h"
#include "runs/serve/access.h"
#include "runs/serve/bounded_server.h"
#include "runs/serve/pages.h"
#include "runs/serve/request_pool.h"
#include "runs/serve/served_run.h"

namespace engine {
namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using HandlerResponse = httplib::Server::HandlerResponse;

constexpr std::size_t pool_threads = 8;
constexpr std::size_t queued_requests = 64;
constexpr int waiting_connections = 128;
constexpr std::size_t kept_runs = 16;
constexpr std::size_t listed_runs = 200;
constexpr std::chrono::seconds verdict_interval{15};
constexpr std::size_t longest_body = 8192;
constexpr char json_type[] = "application/json";
constexpr char html_type[] = "text/html; charset=utf-8";
constexpr char texts_type[] = "text/plain; charset=utf-8";

/// A message in English, and its parts for another language, named as in events.jsonl.
void write_message(ordered_json& object, const std::string& field, const Message& message) {
    object[field] = message.str();
    object[field + "_text"] = message.text;
    object[field + "_args"] = message.args;
}

ordered_json messages_json(const std::vector<Message>& messages) {
    ordered_json out = ordered_json::array();
    for (const Message& each : messages) write_message(out.emplace_back(), "part", each);
    return out;
}

/// A run that somebody looks at.
struct Watched {
    explicit Watched(const std::filesystem::path& folder_) : folder(folder_), run(folder_) {}

    ordered_json verdict_of_run(const ServeOptions& options) {
        if (!options.verdict) return nullptr;
        const std::lock_guard lock(mutex);
        const RunSummary summary = run.summary();
        const bool changed = summary.steps != judged_steps || summary.state != judged_state;
        const bool due = judged_at == Clock::time_point{} ||
                         Clock::now() - judged_at >= verdict_interval;
        if (changed && due) {
            verdict = options.verdict(summary);
            judged_steps = summary.steps;
            judged_state = summary.state;
            judged_at = Clock::now();
        }
        if (!verdict) return nullptr;
        ordered_json out = {{"tone", verdict->tone},
                            {"details", verdict->details},
                            {"cost", messages_json(verdict->cost)},
                            {"evidence", messages_json(verdict->evidence)}};
        write_message(out, "headline", verdict->headline);
        return out;
    }

    const std::filesystem::path folder;
    ServedRun run;
    std::mutex mutex;  ///< guards the rest
    std::optional<ServedVerdict> verdict;
    std::int64_t judged_steps = -1;
    std::string judged_state;
    Clock::time_point judged_at{};
};

/// The runs that were looked at last.
class WatchedRuns {
public:
    std::shared_ptr<Watched> at(const std::filesystem::path& folder) {
        const std::lock_guard lock(mutex_);
        const auto found = std::ranges::find(runs_, folder, [](const auto& run) -> const auto& {
            return run->folder;
        });
        if (found != runs_.end()) {
            std::rotate(found, found + 1, runs_.end());
            return runs_.back();
        }
        if (runs_.size() == kept_runs) runs_.pop_front();
        runs_.push_back(std::make_shared<Watched>(folder));
        return runs_.back();
    }

private:
    std::mutex mutex_;
    std::deque<std::shared_ptr<Watched>> runs_;  ///< the one that was looked at last at the end
};

ordered_json line_of_list(const RunSummary& run) {
    return {{"run", run.run},
            {"title", run.title},
            {"state", run.paused ? "paused" : run.state},
            {"host", run.host},
            {"silent_s", run.silent_s},
            {"model", model_name(run)},
            {"dataset", dataset_name(run)},
            {"precision", run.config.precision.preset},
            {"steps", run.steps},
            {"skipped", run.skipped},
            {"started", run.started}};
}

void answer_json(httplib::Response& response, const ordered_json& object) {
    response.set_content(dumped(object), json_type);
}

void refuse(httplib::Response& response, int status, const std::string& why) {
    response.status = status;
    answer_json(response, {{"error", why}});
}

/// Shows a page with a new nonce in the place of each {{nonce}}, under which alone its script and
/// styles may run.
void show(httplib::Response& response, std::string_view page) {
    constexpr std::string_view mark = "{{nonce}}";
    const std::string nonce = random_id();
    std::string html(page.substr(0, page.find(mark)));
    for (std::size_t at; (at = page.find(mark)) != std::string_view::npos;) {
        page.remove_prefix(at + mark.size());
        html += nonce;
        html += page.substr(0, page.find(mark));
    }
    response.set_header("Content-Security-Policy",
                        "default-src 'none'; script-src 'nonce-" + nonce + "'; style-src 'nonce-" +
                            nonce +
                            "'; img-src data:; connect-src 'self'; form-action 'self'; base-uri "
                            "'none'; frame-ancestors 'none'");
    response.set_content(html, html_type);
}

std::string checked_token(const ServeOptions& options) {
    if (!options.token_file.empty()) return read_token(options.token_file);
    if (is_loopback(options.bind)) return {};
    throw Error(ErrorCode::settings,
                msg("{}: an address beyond this machine is served only with a token",
                    options.bind),
                msg("Give one with --token-file, or leave out --bind and use `ssh -L`."));
}

}  // namespace

struct RunServer::Impl {
    Impl(std::shared_ptr<RunStore> store_, ServeOptions options_)
        : store(std::move(store_)),
          options(std::move(options_)),
          access(options.bind, checked_token(options)) {
        server.new_task_queue = [this] {
            pool = new RequestPool(pool_threads, queued_requests);  // which the server deletes
            return pool;
        };
        // The library would share the port with another server.
        server.set_socket_options([this](int socket) {
            const int yes = 1;
            ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
            listener = socket;
        });
        server.set_payload_max_length(longest_body);
        server.set_default_headers({{"Cache-Control", "no-store"},
                                    {"X-Content-Type-Options", "nosniff"},
                                    {"X-Frame-Options", "DENY"},
                                    {"Referrer-Policy", "no-referrer"},
                                    {"Cross-Origin-Resource-Policy", "same-origin"}});
        server.set_pre_routing_handler([this](const auto& request, auto& response) {
            return admit(request, response) ? HandlerResponse::Unhandled : HandlerResponse::Handled;
        });
        server.set_exception_handler([](const auto&, auto& response, std::exception_ptr failure) {
            try {
                std::rethrow_exception(failure);
            } catch (const std::exception& error) {
                refuse(response, 500, error.what());
            }
        });
        server.set_error_handler([](const auto&, auto& response) {
            if (response.body.empty()) refuse(response, response.status, "no such page");
        });
        server.Get("/", [](const auto&, auto& response) { show(response, main_page()); });
        server.Get("/texts/zh", [](const auto&, auto& response) {
            const std::string_view texts = chinese_texts();
            response.set_content(texts.data(), texts.size(), texts_type);
        });
        server.Get("/api/runs", [this](const auto&, auto& response) { list(response); });
        server.Get("/api/run", [this](const auto& request, auto& response) {
            run(request, response);
        });
        server.Post("/login", [this](const auto& request, auto& response) {
            log_in(request, response);
        });
        listen();
    }
    ~Impl() {
        server.stop();
        if (thread.joinable()) thread.join();
    }

    void listen() {
        port = options.port;
        if (port == 0)
            port = server.bind_to_any_port(options.bind);
        else if (!server.bind_to_port(options.bind, port))
            port = -1;
        if (port < 0)
            throw Error(ErrorCode::io,
                        msg("{}, port {}: nothing can be served there", options.bind, options.port),
                        msg("Another program may use this port: give another one with --port."));
        // The library lets five connections wait to be accepted. The kernel drops further ones, and their clients
        // try again only after a second, then after two.
        ::listen(listener, waiting_connections);
        thread = std::thread([this] { server.listen_after_bind(); });
        while (!server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

    /// Whether a request reaches its page.
    bool admit(const httplib::Request& request, httplib::Response& response) {
        if (pool->turns_away()) {
            response.set_header("Retry-After", "2");
            refuse(response, 503, "too many requests at once");
            return false;
        }
        if (!access.is_own_host(request.get_header_value("Host"))) {
            refuse(response, 403, "this server goes by another name");
            return false;
        }
        const bool logs_in = request.method == "POST" && request.path == "/login";
        if (logs_in || access.is_granted(request.get_header_value("Authorization"),
                                         request.get_header_value("Cookie")))
            return true;
        if (request.method == "GET" && request.path == "/")
            show(response, login_page());
        else
            refuse(response, 401, "a token is needed");
        response.status = 401;
        return false;
    }

    void log_in(const httplib::Request& request, httplib::Response& response) const {
        if (!access.needs_token() || !access.is_token(request.get_param_value("token"))) {
            show(response, login_page());
            response.status = 401;
            return;
        }
        response.set_header("Set-Cookie", access.set_cookie());
        response.set_redirect("/", 303);
    }

    void list(httplib::Response& response) const {
        ordered_json lines = ordered_json::array();
        if (options.run_folder.empty()) {
            for (const RunSummary& each : store->list()) {
                if (lines.size() == listed_runs) break;
                lines.push_back(line_of_list(each));
            }
        }
        answer_json(response, {{"all", options.run_folder.empty()}, {"runs", std::move(lines)}});
    }

    void run(const httplib::Request& request, httplib::Response& response) {
        std::filesystem::path folder = options.run_folder;
        if (folder.empty()) {
            const auto found = store->find(request.get_param_value("run"));
            if (!found) return refuse(response, 404, "there is no such run in the history");
            folder = found->folder;
        }
        const auto watched = runs.at(folder);
        ordered_json object = watched->run.answer(request.get_param_value("cursor"));
        object["verdict"] = watched->verdict_of_run(options);
        answer_json(response, object);
    }

    const std::shared_ptr<RunStore> store;
    const ServeOptions options;
    const Access access;
    WatchedRuns runs;
    BoundedServer server;
    RequestPool* pool = nullptr;
    int port = 0;
    int listener = -1;
    std::thread thread;
};

RunServer::RunServer(std::shared_ptr<RunStore> store, ServeOptions options)
    : impl_(std::make_unique<Impl>(std::move(store), std::move(options))) {}
RunServer::~RunServer() = default;

int RunServer::port() const { return impl_->port; }

std::string RunServer::address() const {
    const bool is_v6 = impl_->options.bind.find(':') != std::string::npos;
    const std::string host = is_v6 ? "[" + impl_->options.bind + "]" : impl_->options.bind;
    return "http://" + host + ":" + std::to_string(impl_->port) + "/";
}

}  // namespace engine

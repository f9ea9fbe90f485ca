#include "engine/runs/run_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <thread>
#include <vector>

#include "runs/serve/http_library.h"
#include "support/expectations.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr char token[] = "0123456789abcdef0123456789";

/// A server of a history with one run.
class RunServerTest : public testing::Test {
protected:
    void SetUp() override {
        store_ = std::make_shared<RunStore>(dir_ / "runs");
        run_ = store_->create({});
        std::ofstream(dir_ / "token") << token;
        fs::permissions(dir_ / "token", fs::perms::owner_read | fs::perms::owner_write);
    }
    void serve(ServeOptions options = {}) {
        server_ = std::make_unique<RunServer>(store_, std::move(options));
    }
    httplib::Client client() const {
        httplib::Client out("127.0.0.1", server_->port());
        out.set_read_timeout(60);
        return out;
    }
    int status_of(const std::string& path, const httplib::Headers& headers = {}) const {
        const auto answer = client().Get(path.c_str(), headers);
        return answer ? answer->status : 0;
    }
    /// The first line of the answer to these bytes; empty if the connection was closed.
    std::string answer_to(const std::string& bytes) const {
        const int connection = connect_to_server();
        [[maybe_unused]] auto sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        std::string got(200, '\0');
        const ssize_t count = ::recv(connection, got.data(), got.size(), 0);
        ::close(connection);
        got.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        return got.substr(0, got.find('\r'));
    }
    int connect_to_server() const {
        const int out = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(server_->port()));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(out, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
        return out;
    }

    const test_support::TempFolder dir_;
    std::shared_ptr<RunStore> store_;
    RunStore::NewRun run_;
    std::unique_ptr<RunServer> server_;
};

TEST_F(RunServerTest, ShowsThePageTheHistoryAndARun) {
    serve({.verdict = [](const RunSummary& run) {
        return std::optional(ServedVerdict{.tone = "good",
                                           .headline = msg("{} pays off: {} ms.", run.run, 3),
                                           .cost = {"16 % slower"},
                                           .evidence = {},
                                           .details = "details"});
    }});
    const auto page = client().Get("/");
    ASSERT_TRUE(page);
    EXPECT_EQ(page->status, 200);
    EXPECT_THAT(page->get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'"));
    EXPECT_EQ(page->get_header_value("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(page->get_header_value("Cache-Control"), "no-store");
    const json list = json::parse(client().Get("/api/runs")->body);
    EXPECT_EQ(list["all"], true);
    ASSERT_EQ(list["runs"].size(), 1U);
    EXPECT_EQ(list["runs"][0]["run"], run_.run);
    const json run = json::parse(client().Get("/api/run?run=1&cursor=")->body);
    EXPECT_EQ(run["run"], "1");
    EXPECT_EQ(run["state"], "preparing");
    EXPECT_EQ(run["verdict"]["headline"], "1 pays off: 3 ms.");
    EXPECT_EQ(run["verdict"]["headline_text"], "{} pays off: {} ms.");
    EXPECT_EQ(run["verdict"]["headline_args"], json({"1", "3"}));
    EXPECT_EQ(run["verdict"]["cost"][0]["part_text"], "16 % slower");
    const auto texts = client().Get("/texts/zh");
    EXPECT_EQ(texts->status, 200);
    EXPECT_THAT(texts->body, HasSubstr("\nmsgid "));
    EXPECT_EQ(server_->address(), "http://127.0.0.1:" + std::to_string(server_->port()) + "/");
}

TEST_F(RunServerTest, AScriptRunsUnderANonceThatEachAnswerHasAnew) {
    serve();
    std::set<std::string> nonces;
    for (int i = 0; i < 2; ++i) {
        const auto page = client().Get("/");
        ASSERT_TRUE(page);
        EXPECT_THAT(page->body, Not(HasSubstr("{{nonce}}")));
        std::smatch found;
        ASSERT_TRUE(std::regex_search(page->body, found, std::regex("<script nonce=\"([^\"]*)\"")));
        EXPECT_GE(found[1].length(), 16);
        nonces.insert(found[1]);
        const std::string policy = page->get_header_value("Content-Security-Policy");
        EXPECT_THAT(policy, HasSubstr("script-src 'nonce-" + found[1].str() + "'"));
        EXPECT_THAT(policy, HasSubstr("style-src 'nonce-" + found[1].str() + "'"));
        EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
    }
    EXPECT_EQ(nonces.size(), 2U);
}

TEST_F(RunServerTest, OfOneRunShowsNoOther) {
    const auto other = store_->create({});
    serve({.run_folder = run_.folder});
    const json list = json::parse(client().Get("/api/runs")->body);
    EXPECT_EQ(list["all"], false);
    EXPECT_EQ(list["runs"].size(), 0U);
    EXPECT_EQ(json::parse(client().Get("/api/run?run=2")->body)["run"], "1");
}

TEST_F(RunServerTest, AnswersOnlyWhoCallsItByItsName) {
    serve();
    EXPECT_EQ(status_of("/", {{"Host", "evil.com"}}), 403);
    EXPECT_EQ(status_of("/api/runs", {{"Host", "evil.com:80"}}), 403);
    EXPECT_EQ(status_of("/", {{"Host", "localhost:9999"}}), 200) << "through ssh -L";
    EXPECT_THAT(answer_to("GET / HTTP/1.0\r\n\r\n"), HasSubstr("403"));
}

TEST_F(RunServerTest, HasNoOtherPages) {
    serve();
    for (const char* path : {"/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/config.json", "/config.json",
                             "//etc/passwd", "/api", "/api/run/../../config.json", "/api/run?run=../../etc",
                             "/api/run?run=%2Fetc", "/api/run?run=", "/api/run", "/login"})
        EXPECT_EQ(status_of(path), 404) << path;
    EXPECT_THAT(answer_to("GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n"), HasSubstr("404"));
    for (const char* method : {"PUT", "DELETE", "POST", "PATCH"}) {
        const std::string request = std::string(method) + " /api/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
        EXPECT_THAT(answer_to(request), HasSubstr("404")) << method;
    }
}

TEST_F(RunServerTest, AsksForItsToken) {
    serve({.token_file = dir_ / "token"});
    EXPECT_EQ(status_of("/api/runs"), 401);
    EXPECT_EQ(status_of("/api/run?run=1"), 401);
    EXPECT_EQ(status_of("/texts/zh"), 401);
    EXPECT_EQ(status_of("/api/runs?token=0123456789abcdef0123456789"), 401) << "not in addresses";
    EXPECT_EQ(status_of("/api/runs", {{"Authorization", "Bearer guess"}}), 401);
    EXPECT_EQ(status_of("/api/runs", {{"Authorization", std::string("Bearer ") + token}}), 200);
    const auto page = client().Get("/");
    EXPECT_EQ(page->status, 401);
    EXPECT_THAT(page->body, HasSubstr("action=\"/login\""));
    EXPECT_EQ(client().Post("/login", httplib::Params{{"token", "guess"}})->status, 401);
    const auto granted = client().Post("/login", httplib::Params{{"token", token}});
    ASSERT_EQ(granted->status, 303);
    const std::string cookie = granted->get_header_value("Set-Cookie");
    EXPECT_EQ(status_of("/api/runs", {{"Cookie", cookie.substr(0, cookie.find(';'))}}), 200);
    EXPECT_EQ(status_of("/api/runs", {{"Cookie", "halftone=guess"}}), 401);
}

TEST_F(RunServerTest, IsNotOpenToANetworkWithoutAToken) {
    EXPECT_THAT(message_of(ErrorCode::settings, [&] { serve({.bind = "0.0.0.0"}); }),
                HasSubstr("only with a token"));
    serve({.bind = "0.0.0.0", .token_file = dir_ / "token"});
    EXPECT_EQ(status_of("/api/runs"), 401);
}

TEST_F(RunServerTest, APortThatIsTakenIsRefused) {
    serve();
    const int port = server_->port();
    EXPECT_THAT(message_of(ErrorCode::io, [&] { RunServer(store_, {.port = port}); }),
                HasSubstr("nothing can be served there"));
}

TEST_F(RunServerTest, TakesNoRequestsWithoutBounds) {
    serve();
    const std::string start = "GET / HTTP/1.1\r\nHost: localhost\r\n";
    EXPECT_THAT(answer_to("GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n"),
                testing::Not(HasSubstr("200")));
    EXPECT_THAT(answer_to(start + "X: " + std::string(100'000, 'a') + "\r\n\r\n"),
                testing::Not(HasSubstr("200")));
    EXPECT_THAT(answer_to("POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                          "application/x-www-form-urlencoded\r\nContent-Length: 100000000\r\n\r\ntoken="),
                HasSubstr("413"));
    EXPECT_THAT(answer_to("nonsense\r\n\r\n"), HasSubstr("400"));
    EXPECT_EQ(status_of("/api/runs"), 200) << "it goes on";
}

TEST_F(RunServerTest, Answers503BeyondItsQueueAndGoesOn) {
    serve();
    // Connections that say nothing hold the threads and the queue for a second. The kernel drops
    // some when they come too fast, so that one round may not fill the queue.
    std::atomic<int> refused{0};
    for (int round = 0; round < 20 && refused == 0; ++round) {
        std::vector<int> silent;
        for (int i = 0; i < 8 + 64; ++i) {
            silent.push_back(connect_to_server());
            std::this_thread::sleep_for(1ms);
        }
        std::vector<std::jthread> clients;
        for (int i = 0; i < 8; ++i)
            clients.emplace_back([&] {
                httplib::Client impatient("127.0.0.1", server_->port());
                impatient.set_read_timeout(1);
                const auto answer = impatient.Get("/api/runs");
                if (answer && answer->status == 503) ++refused;
            });
        clients.clear();
        for (const int connection : silent) ::close(connection);
    }
    EXPECT_GT(refused, 0);
    int status = 0;
    for (int i = 0; i < 100 && status != 200; ++i) status = status_of("/api/runs");
    EXPECT_EQ(status, 200);
}

TEST_F(RunServerTest, AThousandClientsAtOnceAreAnsweredOrTurnedAway) {
    serve();
    std::atomic<int> answered{0}, turned_away{0}, dropped{0};
    std::vector<std::jthread> clients;
    for (int i = 0; i < 100; ++i)
        clients.emplace_back([&] {
            for (int k = 0; k < 10; ++k) {
                const int status = status_of("/api/run?run=1&cursor=");
                ++(status == 200 ? answered : status == 503 ? turned_away : dropped);
            }
        });
    clients.clear();
    EXPECT_EQ(dropped, 0);
    EXPECT_GT(answered, 0);
    EXPECT_EQ(answered + turned_away, 1000);
    EXPECT_EQ(status_of("/api/runs"), 200);
}

}  // namespace
}  // namespace engine

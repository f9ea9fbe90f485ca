#include "runs/serve/access.h"

#include <arpa/inet.h>
#include <nettle/memops.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/platform/regular_file.h"
#include "engine/base/error.h"
#include "io/file/lease.h"
#include "io/file/sha256.h"

namespace engine {
namespace {

constexpr std::string_view cookie_name = "halftone=";
constexpr std::string_view bearer = "Bearer ";
constexpr std::size_t shortest_token = 20;
constexpr std::size_t longest_token = 4096;

bool is_address(int family, const std::string& text) {
    std::array<unsigned char, 16> bytes{};
    return ::inet_pton(family, text.c_str(), bytes.data()) == 1;
}

/// The name in a Host header, without the port and the brackets of an IPv6 address.
std::string host_in(std::string_view header) {
    if (header.starts_with('[')) return std::string(header.substr(1, header.find(']') - 1));
    std::string name(header.substr(0, header.rfind(':')));
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
}

std::string machine_name() {
    std::string name = LeaseHolder::self().host;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
}

/// Hashes have one length, so that the time does not show that of the token either.
bool is_same(std::string_view first, std::string_view second) {
    const std::string one = sha256_of(std::as_bytes(std::span(first)));
    const std::string other = sha256_of(std::as_bytes(std::span(second)));
    return memeql_sec(one.data(), other.data(), one.size()) != 0;
}

std::string_view without_space(std::string_view text) {
    constexpr std::string_view space = " \t\r\n";
    const std::size_t first = text.find_first_not_of(space);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(space) - first + 1);
}

}  // namespace

bool is_loopback(const std::string& address) {
    if (address == "localhost" || address == "::1") return true;
    return address.starts_with("127.") && is_address(AF_INET, address);
}

std::string read_token(const std::filesystem::path& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0)
        throw Error(ErrorCode::io, msg("{}: the token cannot be read", file.string()));
    if ((info.st_mode & 077) != 0)
        throw Error(ErrorCode::settings,
                    msg("{}: other users may read or write this token", file.string()),
                    msg("Run `chmod 600` on the file."));
    const auto text = read_regular_file(file, longest_token);
    if (!text) throw Error(ErrorCode::io, msg("{}: the token cannot be read", file.string()));
    const std::string token(without_space(*text));
    const bool is_printable = std::ranges::all_of(token, [](char c) { return c > ' ' && c < 127; });
    if (token.size() < shortest_token || !is_printable)
        throw Error(ErrorCode::settings,
                    msg("{}: a token is one word of at least {} printable characters",
                        file.string(), shortest_token),
                    msg("Make one with `openssl rand -hex 32`."));
    return token;
}

Access::Access(std::string bind_address, std::string token)
    : is_loopback_(engine::is_loopback(bind_address)),
      token_(std::move(token)),
      session_(random_id()),
      machine_(machine_name()) {}

bool Access::is_own_host(std::string_view header) const {
    const std::string host = host_in(header);
    if (host == "localhost" || engine::is_loopback(host)) return true;
    if (is_loopback_ || host.empty()) return false;
    return is_address(AF_INET, host) || is_address(AF_INET6, host) || host == machine_ ||
           host.starts_with(machine_ + ".");
}

bool Access::is_token(std::string_view given) const { return is_same(given, token_); }

bool Access::is_granted(std::string_view authorization, std::string_view cookie) const {
    if (!needs_token()) return true;
    if (authorization.starts_with(bearer) && is_token(authorization.substr(bearer.size())))
        return true;
    while (!cookie.empty()) {
        const std::string_view one = without_space(cookie.substr(0, cookie.find(';')));
        if (one.starts_with(cookie_name) && is_same(one.substr(cookie_name.size()), session_))
            return true;
        cookie.remove_prefix(std::min(cookie.find(';'), cookie.size() - 1) + 1);
    }
    return false;
}

std::string Access::set_cookie() const {
    return std::string(cookie_name) + session_ + "; Path=/; HttpOnly; SameSite=Strict";
}

}  // namespace engine

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace engine {

/// Whether an address of this machine reaches no further than it: 127.0.0.0/8, ::1, localhost.
bool is_loopback(const std::string& address);

/// Reads the token of a file, without the space around it. Throws Error(settings) for one that is
/// shorter than 20 characters or has others than printable ones, and for a file that other users
/// may read; Error(io).
std::string read_token(const std::filesystem::path& file);

/// Decides by its Host header and a token whether a request is answered.
class Access {
public:
    /// Without a `token` everybody who reaches the address has access.
    Access(std::string bind_address, std::string token);

    /// Whether a Host header names this server, so that no page of another site has given its own
    /// name to this address (DNS rebinding). A server for this machine alone goes by names of
    /// loopback; another one also by any numeric address and by the machine's own name.
    bool is_own_host(std::string_view host) const;
    bool needs_token() const { return !token_.empty(); }
    /// Compares in a time that does not depend on the contents.
    bool is_token(std::string_view given) const;
    /// Whether the headers Authorization and Cookie, which may be empty, grant access.
    bool is_granted(std::string_view authorization, std::string_view cookie) const;
    /// The header Set-Cookie after the token was given: a random text that grants access as long as
    /// this object exists.
    std::string set_cookie() const;

private:
    const bool is_loopback_;
    const std::string token_;
    const std::string session_;
    const std::string machine_;  ///< its name, in lower case
};

}  // namespace engine

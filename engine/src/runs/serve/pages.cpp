#include "runs/serve/pages.h"

#include "io/file/lease.h"

namespace engine {
namespace {

constexpr std::string_view mark = "{{nonce}}";

}  // namespace

PageWithPolicy with_policy(std::string_view page) {
    const std::string nonce = random_id();
    PageWithPolicy out;
    while (!page.empty()) {
        const std::size_t at = page.find(mark);
        out.html += page.substr(0, at);
        if (at == std::string_view::npos) break;
        out.html += nonce;
        page.remove_prefix(at + mark.size());
    }
    out.policy = "default-src 'none'; script-src 'nonce-" + nonce + "'; style-src 'nonce-" + nonce +
                 "'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
                 "frame-ancestors 'none'";
    return out;
}

}  // namespace engine

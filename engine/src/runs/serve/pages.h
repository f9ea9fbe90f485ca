#pragma once

#include <string>
#include <string_view>

namespace engine {

/// resources/serve/page.html and login.html, as text within the program.
std::string_view main_page();
std::string_view login_page();

/// A page, and the Content-Security-Policy under which it alone may run its script and styles.
struct PageWithPolicy {
    std::string html;
    std::string policy;
};
/// Puts a new nonce in the place of each {{nonce}}.
PageWithPolicy with_policy(std::string_view page);

}  // namespace engine

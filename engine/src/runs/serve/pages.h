#pragma once

#include <string_view>

namespace engine {

/// resources/serve/page.html and login.html, as text within the program. {{nonce}} stands where a
/// script or style names the nonce under which it runs.
std::string_view main_page();
std::string_view login_page();
/// engine_zh_CN.po of resources/i18n: messages of the engine in Chinese, as gettext's files are.
std::string_view chinese_texts();

}  // namespace engine

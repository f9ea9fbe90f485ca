#pragma once

#include <QString>
#include <string>

namespace ui {

/// The title of a policy of engine::usual_policies(): "Static 2¹⁰", "Production".
QString policyTitle(const std::string& policy);

}  // namespace ui

#pragma once

#include <string>

namespace engine {

/// Three significant digits, thousands separated: "0.000500", "1.30", "13,200". An exponent only
/// below 1e-6 and from 1e9 on.
std::string figure_text(double value);
/// The same without zeros at the end: "2", "0.5".
std::string short_figure_text(double value);

}  // namespace engine

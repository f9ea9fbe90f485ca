#pragma once

#include <QString>

namespace ui {

class Language;

/// Which of the files that exist in several languages is shown: "en" or "zh".
QString contentLanguage(const Language& language);

}  // namespace ui

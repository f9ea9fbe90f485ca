#include "text/content_language.h"

#include <QLocale>

#include "text/language.h"

namespace ui {

using namespace Qt::StringLiterals;

QString contentLanguage(const Language& language) {
    const QString chosen =
        language.choice().isEmpty() ? QLocale::system().name() : language.choice();
    const QString words = QLocale(chosen).name().section(u'_', 0, 0);
    for (const auto& known : Language::known()) {
        if (known.code.section(u'_', 0, 0) == words) return words;
    }
    return u"en"_s;
}

}  // namespace ui

#include "text/content_language.h"

#include <QLocale>

#include "text/language.h"

namespace ui {

using namespace Qt::StringLiterals;

QString contentLanguage(const Language& language) {
    const QString chosen =
        language.choice().isEmpty() ? QLocale::system().name() : language.choice();
    return chosen.startsWith(u"zh"_s) ? u"zh"_s : u"en"_s;
}

}  // namespace ui

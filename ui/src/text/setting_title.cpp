#include "text/setting_title.h"

#include <QStringList>
#include <algorithm>
#include <cmath>

#include "engine/catalog.h"
#include "text/format.h"
#include "text/language.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

/// With thousands separated; never rounded, since it is a setting.
QString numberText(const QString& value) {
    bool number = false;
    const double size = value.toDouble(&number);
    if (!number) return value;
    return std::abs(size) >= 1000 && size == std::floor(size) && size < 1e15
               ? count(static_cast<std::int64_t>(size))
               : value;
}

}  // namespace

QString settingTitle(const std::string& path, const std::string& kind) {
    const engine::FieldInfo* info =
        kind.empty() ? engine::find_field(path) : engine::find_field(path, kind);
    if (info != nullptr && !info->label.empty()) return engineText(info->label);
    return QString::fromStdString(path).section(u'.', -1);
}

QString settingValue(const std::string& path, const std::string& value) {
    const engine::FieldInfo* info = engine::find_field(path);
    if (info == nullptr) return numberText(QString::fromStdString(value));
    const auto choice = std::ranges::find(info->choices, value, &engine::FieldChoice::value);
    if (choice != info->choices.end() && !choice->title.empty()) return engineText(choice->title);
    const QString text = numberText(QString::fromStdString(value));
    return info->unit.empty() ? text : text + u' ' + engineText(info->unit);
}

QString settingsLabel(const std::string& label) {
    const QString all = QString::fromStdString(label);
    if (!all.contains(u'=')) return all;
    QStringList parts;
    for (const QString& part : all.split(u' ', Qt::SkipEmptyParts)) {
        const qsizetype equals = part.indexOf(u'=');
        const std::string path = part.left(equals).toStdString();
        if (equals < 1 || engine::find_field(path) == nullptr) {
            parts << part;
            continue;
        }
        parts << settingTitle(path) + u' ' + settingValue(path, part.mid(equals + 1).toStdString());
    }
    return parts.join(u" · "_s);
}

}  // namespace ui

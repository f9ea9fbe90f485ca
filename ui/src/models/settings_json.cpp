#include "models/settings_json.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QStringList>

namespace ui {

using namespace Qt::StringLiterals;

namespace {

/// Writes all digits that the number has, and no exponent for 0.0003.
QString numberText(double value) {
    constexpr int usual = 12, most = 17;
    QString text;
    for (int digits = usual; digits <= most; ++digits) {
        text = QString::number(value, 'g', digits);
        if (text.toDouble() == value) break;
    }
    return text;
}

}  // namespace

QJsonObject settingsObject(const engine::RunConfig& config) {
    return QJsonDocument::fromJson(QByteArray::fromStdString(engine::to_json(config))).object();
}

QJsonValue valueAt(const QJsonObject& root, const QString& path) {
    QJsonValue value = root;
    for (const QString& part : path.split(u'.')) value = value.toObject().value(part);
    return value;
}

void removeValueAt(QJsonObject& object, const QString& path) {
    if (!path.contains(u'.')) return object.remove(path);
    const QString name = path.section(u'.', 0, 0);
    QJsonObject inside = object.value(name).toObject();
    removeValueAt(inside, path.section(u'.', 1));
    object[name] = inside;
}

QString settingText(const QJsonValue& value) {
    switch (value.type()) {
        case QJsonValue::String:
            return value.toString();
        case QJsonValue::Bool:
            return value.toBool() ? u"true"_s : u"false"_s;
        case QJsonValue::Double:
            return numberText(value.toDouble());
        case QJsonValue::Array: {
            QStringList parts;
            for (const auto& part : value.toArray()) parts << settingText(part);
            return parts.join(u", "_s);
        }
        case QJsonValue::Object:
            return QString::fromUtf8(
                QJsonDocument(value.toObject()).toJson(QJsonDocument::Compact));
        default:
            return {};
    }
}

}  // namespace ui

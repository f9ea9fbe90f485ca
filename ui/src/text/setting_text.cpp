#include "text/setting_text.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <map>

#include "engine/settings/catalog.h"
#include "text/event_text.h"
#include "text/format.h"
#include "text/language.h"

namespace ui {
namespace {

struct SettingTitle {
    Q_DECLARE_TR_FUNCTIONS(SettingTitle)
};

/// The number with thousands separated; never rounded, since it is a setting.
QString numberText(const QString& value) {
    bool number = false;
    const double size = value.toDouble(&number);
    if (!number) return value;
    return std::abs(size) >= 1000 && size == std::floor(size) && size < 1e15
               ? count(static_cast<std::int64_t>(size))
               : value;
}

/// The value without its unit.
QString bareValue(const engine::FieldInfo* info, const std::string& value) {
    const QString text = numberText(QString::fromStdString(value));
    if (info == nullptr) return text;
    const auto choice = std::ranges::find(info->choices, value, &engine::FieldChoice::value);
    const bool titled = choice != info->choices.end() && !choice->title.empty();
    return titled ? engineText(choice->title) : text;
}

}  // namespace

QString settingTitle(const std::string& path, const std::string& kind) {
    const engine::FieldInfo* info =
        kind.empty() ? engine::find_field(path) : engine::find_field(path, kind);
    if (info != nullptr && !info->label.empty()) return engineText(info->label);
    return QString::fromStdString(path).section(u'.', -1);
}

QString sectionTitle(const std::string& path) {
    const std::map<QString, QString> titles = {
        {u"checkpoint"_s, SettingTitle::tr("Checkpoints")},
        {u"clip"_s, SettingTitle::tr("Gradient clipping")},
        {u"dataset"_s, SettingTitle::tr("Data")},
        {u"early_stopping"_s, SettingTitle::tr("Early stopping")},
        {u"evaluation"_s, SettingTitle::tr("Evaluation")},
        {u"instruments"_s, SettingTitle::tr("Instruments")},
        {u"log"_s, SettingTitle::tr("Logs")},
        {u"model"_s, SettingTitle::tr("Model")},
        {u"optimizer"_s, SettingTitle::tr("Optimizer")},
        {u"precision"_s, SettingTitle::tr("Precision")},
        {u"quantize"_s, SettingTitle::tr("8 and 4 bits")},
        {u"scaler"_s, SettingTitle::tr("Loss scaler")},
        {u"schedule"_s, SettingTitle::tr("Learning-rate schedule")},
        {u"task"_s, SettingTitle::tr("Task")},
        {u"teach"_s, SettingTitle::tr("Faults for teaching")}};
    const QString all = QString::fromStdString(path);
    if (!all.contains(u'.')) return {};
    const QString section = all.section(u'.', 0, 0);
    const auto found = titles.find(section);
    return found == titles.end() ? section : found->second;
}

std::vector<SettingName> settingNames(const engine::RunConfig& config) {
    std::vector<engine::FieldInfo> fields = engine::fields(config);
    std::erase_if(fields, &engine::FieldInfo::in_files);
    std::map<QString, int> uses;
    for (const auto& info : fields) ++uses[settingTitle(info.path)];
    std::vector<SettingName> out;
    for (const auto& info : fields) {
        const QString title = settingTitle(info.path);
        QStringList kinds;
        const std::string kindOf = info.path.substr(0, info.path.find('.')) + ".kind";
        for (const auto& kind : info.kinds) kinds << settingValue(kindOf, kind);
        const QString which = !kinds.isEmpty()   ? kinds.join(u", "_s)
                              : info.unit.empty() ? sectionTitle(info.path)
                                                  : engineText(info.unit);
        out.push_back({uses[title] > 1 ? title + u" ("_s + which + u')' : title, info.path});
    }
    return out;
}

std::string pathOfSetting(const QString& text, const engine::RunConfig& config) {
    const QString wanted = text.trimmed();
    const auto same = [&](const QString& name) {
        return name.compare(wanted, Qt::CaseInsensitive) == 0;
    };
    for (const SettingName& each : settingNames(config))
        if (same(each.text)) return each.path;
    for (const auto& info : engine::fields())
        if (same(QString::fromStdString(info.label))) return info.path;
    return wanted.toStdString();
}

QString settingValue(const std::string& path, const std::string& value) {
    const engine::FieldInfo* info = engine::find_field(path);
    const QString text = bareValue(info, value);
    const bool bare =
        info == nullptr || info->unit.empty() || text.isEmpty() || !text.at(0).isDigit();
    return bare ? text : text + u' ' + engineText(info->unit);
}

std::string valueOfSetting(const std::string& path, const QString& text) {
    const QString wanted = text.trimmed();
    const engine::FieldInfo* info = engine::find_field(path);
    if (info == nullptr) return wanted.toStdString();
    for (const auto& choice : info->choices) {
        for (const QString& title :
             {engineText(choice.title), QString::fromStdString(choice.title)})
            if (!title.isEmpty() && title.compare(wanted, Qt::CaseInsensitive) == 0)
                return choice.value;
    }
    return wanted.toStdString();
}

std::vector<LabelPart> labelParts(const std::string& label) {
    const QString all = QString::fromStdString(label);
    if (!all.contains(u'=')) return {{{}, all}};
    std::vector<LabelPart> parts;
    for (const QString& part : all.split(u' ', Qt::SkipEmptyParts)) {
        const qsizetype equals = part.indexOf(u'=');
        const std::string path = part.left(equals).toStdString();
        const engine::FieldInfo* info = equals < 1 ? nullptr : engine::find_field(path);
        if (info == nullptr)
            parts.push_back({{}, part});
        else
            parts.push_back(
                {settingTitle(path), bareValue(info, part.mid(equals + 1).toStdString())});
    }
    return parts;
}

QString settingsLabel(const std::string& label) {
    QStringList parts;
    for (const LabelPart& part : labelParts(label))
        parts << (part.title.isEmpty() ? part.value : part.title + u' ' + part.value);
    return parts.join(u" · "_s);
}

namespace {

struct SettingErrorText {
    Q_DECLARE_TR_FUNCTIONS(SettingErrorText)
};

/// 1,000,000 for 1000000.
QString withGroupedNumbers(QString text) {
    static const QRegularExpression digits(u"(?<=\\d)(?=(\\d{3})+(?!\\d))"_s);
    static const QRegularExpression longNumber(u"(?<![\\d.])\\d{5,}(?!\\d|\\.\\d)"_s);
    for (auto match = longNumber.match(text); match.hasMatch();
         match = longNumber.match(text, match.capturedEnd() + 1)) {
        QString number = match.captured();
        text.replace(match.capturedStart(), match.capturedLength(), number.replace(digits, u","_s));
    }
    return text;
}

/// The value without the quotes that a text has in JSON.
QString bare(QString value) {
    const bool quoted = value.size() > 1 && value.startsWith(u'"') && value.endsWith(u'"');
    return quoted ? value.mid(1, value.size() - 2) : value;
}

}  // namespace

QString settingErrorText(const engine::SettingError& error, const QString& label) {
    const QString allowed = withGroupedNumbers(capitalised(sentence(engineText(error.allowed))));
    const QString value = bare(QString::fromStdString(error.value));
    const QString text = value.isEmpty()
                             ? allowed
                             : SettingErrorText::tr("\"%1\" is not valid. %2").arg(value, allowed);
    return label.isEmpty() ? text : SettingErrorText::tr("%1: %2").arg(label, text);
}

QString capitalised(QString text) {
    if (!text.isEmpty()) text[0] = text[0].toUpper();
    return text;
}

}  // namespace ui

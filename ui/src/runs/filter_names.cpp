#include "runs/filter_names.h"

#include <algorithm>
#include <map>

#include "text/run_text.h"
#include "text/setting_title.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

bool isOperator(QChar each) { return u"!=<>~"_s.contains(each); }

/// The title for a key, or for the end of a key that only one has; the word itself for others.
QString titleFor(const QString& word, const std::vector<FilterName>& names) {
    const FilterName* found = nullptr;
    for (const FilterName& each : names) {
        if (each.key == word) return quotedTitle(each.title);
        if (!each.key.endsWith(u'.' + word)) continue;
        if (found != nullptr) return word;
        found = &each;
    }
    return found == nullptr || word.isEmpty() ? word : quotedTitle(found->title);
}

/// A key alone, several with commas between them, or a term that begins with a whole key.
QString withTitlesFor(const QString& text, const std::vector<FilterName>& names) {
    const auto at = std::ranges::find_if(text, isOperator) - text.begin();
    const QString name = text.left(at);
    const bool isKey = std::ranges::any_of(
        names, [&name](const FilterName& each) { return each.key == name; });
    if (at < text.size()) return isKey ? titleFor(name, names) + text.mid(at) : text;
    QStringList words = text.split(u", "_s);
    for (QString& word : words) word = titleFor(word, names);
    return words.join(u", "_s);
}

}  // namespace

std::vector<FilterName> filterNames(const std::vector<engine::RunField>& fields) {
    std::map<QString, int> uses;
    for (const auto& field : fields) ++uses[fieldLabel(field).toLower()];
    std::vector<FilterName> out;
    std::map<QString, int> given;
    for (const auto& field : fields) {
        QString title = fieldLabel(field);
        if (uses[title.toLower()] > 1 && field.is_setting)
            title = sectionTitle(field.name) + u": "_s + title;
        if (given[title.toLower()]++ > 0) title = QString::fromStdString(field.name);
        out.push_back({title, QString::fromStdString(field.name)});
    }
    return out;
}

QString quotedTitle(const QString& title) {
    const bool plain = std::ranges::none_of(
        title, [](QChar each) { return each.isSpace() || each == u':' || isOperator(each); });
    return plain ? title : u'"' + title + u'"';
}

engine::Message messageWithTitles(engine::Message message, const std::vector<FilterName>& names) {
    for (std::string& arg : message.args)
        arg = withTitlesFor(QString::fromStdString(arg), names).toStdString();
    return message;
}

QString filterWithKeys(const QString& filter, const std::vector<FilterName>& names) {
    QString out;
    qsizetype at = 0;
    const auto copy = [&] { out += filter.at(at++); };
    const auto keyOf = [&](const QString& title) {
        const auto found = std::ranges::find_if(names, [&](const FilterName& each) {
            return each.title.compare(title, Qt::CaseInsensitive) == 0;
        });
        return found == names.end() ? QString() : found->key;
    };
    while (at < filter.size()) {
        while (at < filter.size() && (filter.at(at).isSpace() || filter.at(at) == u'-')) copy();
        // The name of the term, then the operator.
        qsizetype end = at;
        const bool quoted = end < filter.size() && filter.at(end) == u'"';
        QString title;
        if (quoted) {
            end = filter.indexOf(u'"', at + 1);
            title = end < 0 ? QString() : filter.mid(at + 1, end - at - 1);
            end = end < 0 ? filter.size() : end + 1;
        } else {
            while (end < filter.size() && !filter.at(end).isSpace() && !isOperator(filter.at(end)))
                ++end;
            title = filter.mid(at, end - at);
        }
        const bool named = end < filter.size() && isOperator(filter.at(end));
        if (const QString key = named ? keyOf(title) : QString(); !key.isEmpty()) {
            out += key;
            at = end;
        }
        for (bool inside = false; at < filter.size(); copy()) {
            if (filter.at(at) == u'"') inside = !inside;
            if (filter.at(at).isSpace() && !inside) break;
        }
    }
    return out;
}

}  // namespace ui

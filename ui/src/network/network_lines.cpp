#include "network/network_lines.h"

namespace ui {
namespace {

using Kind = NetworkLine::Kind;

bool isNameChar(QChar each) { return each.isLetterOrNumber() || each == u'_'; }

/// The name at the beginning, with expressions in braces: "layer{i + 1}.conv"; or one in quotes.
QString leadingName(const QString& text) {
    if (text.startsWith(u'"')) {
        const auto end = text.indexOf(u'"', 1);
        return end < 0 ? QString() : text.left(end + 1);
    }
    int depth = 0;
    qsizetype at = 0;
    for (; at < text.size(); ++at) {
        const QChar each = text.at(at);
        if (each == u'{')
            ++depth;
        else if (each == u'}')
            --depth;
        else if (depth == 0 && !isNameChar(each) && each != u'.')
            break;
    }
    return depth == 0 ? text.left(at) : QString();
}

/// Brackets that are open at the end of the line, and whether "if" stands outside of all.
struct Brackets {
    int open = 0;
    bool condition = false;
};

/// `open`: brackets of the lines above that are open.
Brackets bracketsOf(const QString& code, int open = 0) {
    Brackets out{open};
    bool quoted = false;
    for (qsizetype at = 0; at < code.size(); ++at) {
        const QChar each = code.at(at);
        if (each == u'"') quoted = !quoted;
        if (quoted) continue;
        if (each == u'(' || each == u'[') ++out.open;
        if (each == u')' || each == u']') --out.open;
        const bool word = out.open == 0 && QStringView(code).mid(at).startsWith(u"if") &&
                          (at == 0 || !isNameChar(code.at(at - 1))) &&
                          (at + 2 == code.size() || !isNameChar(code.at(at + 2)));
        out.condition = out.condition || word;
    }
    return out;
}

bool startsWithWord(const QString& text, QStringView word) {
    return text.startsWith(word) && (text.size() == word.size() || !isNameChar(text.at(word.size())));
}

void readBodyLine(QString code, NetworkLine& line) {
    const QString name = leadingName(code);
    QString rest = code.mid(name.size()).trimmed();
    if (!name.isEmpty() && rest.startsWith(u':')) {
        line.label = name;
        code = rest.mid(1).trimmed();
    } else if (!name.isEmpty() && rest.startsWith(u'=') && !rest.startsWith(u"==")) {
        line.label = name;
        code = rest.mid(1).trimmed();
    } else if (name == u"let") {
        line.kind = Kind::let;
        return;
    } else if (name == u"output") {
        line.kind = Kind::output;
        return;
    }
    if (startsWithWord(code, u"repeat")) {
        line.kind = Kind::repeat;
        return;
    }
    const bool passes = code.isEmpty() || startsWithWord(code, u"from") || startsWithWord(code, u"if");
    line.kind = Kind::layer;
    if (!passes) line.callee = leadingName(code);
}

void readLine(const QString& code, NetworkLine& line) {
    const std::pair<QStringView, Kind> starts[] = {
        {u"option", Kind::option}, {u"init", Kind::init}, {u"block", Kind::block}, {u"network", Kind::network}};
    for (const auto& [word, kind] : starts) {
        if (line.indent != 0 || !startsWithWord(code, word)) continue;
        line.kind = kind;
        if (kind != Kind::network) line.callee = leadingName(code.mid(word.size()).trimmed());
        return;
    }
    readBodyLine(code, line);
}

}  // namespace

QStringList textLines(const QString& text) {
    QStringList lines = text.split(u'\n');
    if (!lines.isEmpty() && lines.back().isEmpty()) lines.removeLast();
    return lines;
}

QString withoutComment(const QString& line) {
    bool quoted = false;
    for (qsizetype at = 0; at < line.size(); ++at) {
        if (line.at(at) == u'"') quoted = !quoted;
        if (line.at(at) == u'#' && !quoted) return line.left(at);
    }
    return line;
}

std::vector<NetworkLine> networkLines(const QString& text) {
    std::vector<NetworkLine> lines;
    std::vector<int> around;  // lines whose bodies are open
    int open = 0;             // brackets of the statement
    int begun = -1;           // its first line
    for (const QString& each : text.split(u'\n')) {
        const int number = static_cast<int>(lines.size());
        NetworkLine& line = lines.emplace_back();
        line.end = number;
        const QString code = withoutComment(each);
        const QString trimmed = code.trimmed();
        if (trimmed.isEmpty()) continue;
        while (line.indent < code.size() && code.at(line.indent) == u' ') ++line.indent;
        const Brackets brackets = bracketsOf(trimmed);
        if (open > 0 && line.indent > lines[static_cast<std::size_t>(begun)].indent) {
            NetworkLine& first = lines[static_cast<std::size_t>(begun)];
            const Brackets continued = bracketsOf(trimmed, open);
            open = continued.open;
            first.conditional = first.conditional || continued.condition;
            line.head = first.head;
            continue;
        }
        begun = number;
        open = brackets.open;
        readLine(trimmed, line);
        line.conditional = brackets.condition && line.kind != Kind::let;
        while (!around.empty() && lines[static_cast<std::size_t>(around.back())].indent >= line.indent) around.pop_back();
        if (!around.empty()) {
            line.head = around.back();
            for (const int outer : around) lines[static_cast<std::size_t>(outer)].end = number;
            NetworkLine& head = lines[static_cast<std::size_t>(line.head)];
            if (head.kind == Kind::layer && head.callee.isEmpty()) head.kind = Kind::container;
        }
        around.push_back(number);
    }
    return lines;
}

}  // namespace ui

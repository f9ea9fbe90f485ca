#include "network/network_highlighter.h"

#include "engine/network/network.h"
#include "network/network_lines.h"
#include "theme/theme.h"

namespace ui {

const QStringList& networkKeywords() {
    static const QStringList words = {u"option"_s, u"init"_s, u"block"_s, u"network"_s, u"gives"_s, u"let"_s,
                                      u"repeat"_s, u"in"_s, u"as"_s, u"of"_s, u"output"_s, u"from"_s,
                                      u"above"_s, u"if"_s, u"else"_s, u"and"_s, u"or"_s, u"not"_s, u"true"_s,
                                      u"false"_s, u"outputs"_s};
    return words;
}

NetworkHighlighter::NetworkHighlighter(const Theme* theme, QTextDocument* document, QObject* parent)
    : QSyntaxHighlighter(parent), theme_(theme) {
    for (const auto& kind : engine::network_layer_kinds()) kinds_.insert(QString::fromStdString(kind.name));
    setDocument(document);
    connect(theme, &Theme::changed, this, &QSyntaxHighlighter::rehighlight);
}

void NetworkHighlighter::highlightBlock(const QString& text) {
    const Tokens& tokens = theme_->tokens();
    QTextCharFormat kind, keyword, argument, comment;
    kind.setFontWeight(QFont::Bold);
    keyword.setFontWeight(QFont::Bold);
    for (auto* dim : {&keyword, &argument, &comment}) dim->setForeground(tokens.dim);
    comment.setFontItalic(true);
    const auto code = withoutComment(text).size();
    setFormat(static_cast<int>(code), static_cast<int>(text.size() - code), comment);
    static const QRegularExpression word(uR"("[^"]*"|\b[A-Za-z_][A-Za-z0-9_]*)"_s);
    int depth = 0;
    qsizetype counted = 0;
    for (auto it = word.globalMatch(text.left(code)); it.hasNext();) {
        const auto match = it.next();
        for (; counted < match.capturedStart(); ++counted) {
            const QChar each = text.at(counted);
            depth += each == u'(' || each == u'[' ? 1 : each == u')' || each == u']' ? -1 : 0;
        }
        counted = match.capturedEnd();
        const QString name = match.captured();
        const auto next = QStringView(text).mid(match.capturedEnd()).trimmed();
        const bool named = depth > 0 && next.startsWith(u'=') && !next.startsWith(u"==");
        const auto mark = [&](const QTextCharFormat& format) {
            setFormat(static_cast<int>(match.capturedStart()), static_cast<int>(match.capturedLength()), format);
        };
        const bool part = match.capturedStart() > 0 && text.at(match.capturedStart() - 1) == u'.';
        if (name.startsWith(u'"'))
            continue;
        else if (named)
            mark(argument);
        else if (kinds_.contains(name) && !part && !next.startsWith(u':'))
            mark(kind);
        else if (networkKeywords().contains(name) && !part && !next.startsWith(u':'))
            mark(keyword);
        else if (name.at(0).isUpper() && depth == 0 && !part)
            mark(kind);  // a block
    }
}

}  // namespace ui

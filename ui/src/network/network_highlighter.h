#pragma once

#include <QRegularExpression>
#include <QSet>
#include <QSyntaxHighlighter>

namespace ui {

class Theme;

/// The syntax of a network's text, by weight alone: kinds of layers and blocks bold, keywords bold
/// and dim, names of arguments and comments dim. Colours are left for types and faults.
class NetworkHighlighter final : public QSyntaxHighlighter {
    Q_OBJECT
public:
    NetworkHighlighter(const Theme* theme, QTextDocument* document, QObject* parent);

protected:
    void highlightBlock(const QString& text) override;

private:
    const Theme* theme_;
    QSet<QString> kinds_;
};

/// Words of the notation: "option", "repeat", "from".
const QStringList& networkKeywords();

}  // namespace ui

#include "widgets/help_page.h"

#include <QCoreApplication>
#include <QFrame>
#include <QLabel>
#include <QScreen>
#include <QVBoxLayout>

#include "engine/catalog.h"
#include "text/language.h"
#include "theme/tokens.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

struct HelpPage {
    Q_DECLARE_TR_FUNCTIONS(HelpPage)
public:
    static QString idea(const QString& path);
};

QString HelpPage::idea(const QString& path) {
    if (path.startsWith(u"precision"_s)) {
        return tr(
            "FP16 has 5 exponent bits: numbers below 2⁻²⁴ become 0 and above 65,504 infinite. BF16 "
            "has "
            "the 8 exponent bits of FP32 and only 7 fraction bits. AMP keeps the weights in FP32 "
            "and "
            "runs matrix products and convolutions in the short format.");
    }
    if (path.startsWith(u"scaler"_s)) {
        return tr(
            "Small gradients would become 0 in FP16. The loss is therefore multiplied by a scale "
            "before "
            "the backward pass and the gradients divided by it afterwards. If a gradient "
            "overflows, the "
            "step is skipped and the scale backs off; after a growth interval of clean steps it "
            "grows. "
            "A skipped step now and then is healthy.");
    }
    if (path.startsWith(u"optimizer"_s) || path.startsWith(u"schedule"_s)) {
        return tr("A schedule advances on applied updates: a skipped step does not use it up.");
    }
    return {};
}

}  // namespace

QString helpPage(const QString& path, const QString& defaultText) {
    QString page;
    for (const auto& field : engine::fields()) {
        if (QString::fromStdString(field.path) != path) continue;
        page = u"<p><b>%1</b></p><p>%2</p>"_s.arg(engineText(field.label).toHtmlEscaped(),
                                                  engineText(field.help).toHtmlEscaped());
    }
    const QString idea = HelpPage::idea(path);
    if (!idea.isEmpty()) page += u"<p>%1</p>"_s.arg(idea.toHtmlEscaped());
    if (path.contains(u'.') || !defaultText.isEmpty()) {
        page += u"<p>%1<br><code>--set %2=%3</code></p>"_s.arg(
            HelpPage::tr("Default: %1. On the command line:").arg(defaultText.toHtmlEscaped()),
            path, defaultText.toHtmlEscaped());
    }
    return page;
}

void showHelp(QWidget* below, const QString& html) {
    constexpr int width = 380;
    auto* card = new QFrame(below->window(), Qt::Popup);
    card->setAttribute(Qt::WA_DeleteOnClose);
    card->setObjectName(u"help"_s);
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(size::inside, size::grid, size::inside, size::grid);
    auto* text = new QLabel(html, card);
    text->setWordWrap(true);
    text->setTextFormat(Qt::RichText);
    text->setTextInteractionFlags(Qt::TextBrowserInteraction);
    text->setOpenExternalLinks(true);
    column->addWidget(text);
    // adjustSize() limits a window's height and would cut long words off.
    card->setFixedWidth(width);
    card->setFixedHeight(column->heightForWidth(width));
    QPoint at = below->mapToGlobal(QPoint(0, below->height() + size::grid));
    const QRect screen = below->screen()->availableGeometry();
    at.setX(
        std::clamp(at.x(), screen.left(), std::max(screen.left(), screen.right() - card->width())));
    at.setY(
        std::clamp(at.y(), screen.top(), std::max(screen.top(), screen.bottom() - card->height())));
    card->move(at);
    card->show();
    card->setFocus();
}

}  // namespace ui

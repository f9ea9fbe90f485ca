#include "widgets/changed_data_dialog.h"

#include <QPushButton>

#include "theme/theme.h"
#include "theme/tokens.h"
#include "widgets/panel.h"

namespace ui {

ChangedDataDialog::ChangedDataDialog(const QString& what, const QString& then, QWidget* parent)
    : QDialog(parent) {
    setObjectName(u"changedData"_s);
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowModality(Qt::WindowModal);
    setWindowTitle(tr("The data have changed"));
    setMinimumWidth(460);
    auto* column = makeColumn(
        this, {size::inside * 2, size::inside * 2, size::inside * 2, size::inside}, size::inside);
    auto* title = makeTitle(tr("The data have changed"), nullptr, this);
    column->addWidget(title);
    for (const QString& sentence : {what, then}) {
        auto* text = makeProse(sentence, nullptr, this);
        text->setTextFormat(Qt::PlainText);  // it names files
        column->addWidget(text);
    }
    auto* buttons = new QHBoxLayout;
    buttons->addStretch();
    auto* leave = new QPushButton(tr("Cancel"), this);
    auto* go = withName(new QPushButton(tr("Go on with this data"), this), u"primary"_s);
    leave->setDefault(true);
    addWidgets(buttons, {leave, go});
    column->addLayout(buttons);
    setAccessibleDescription(what + u' ' + then);
    leave->setFocus();
    connect(leave, &QPushButton::clicked, this, &QDialog::reject);
    connect(go, &QPushButton::clicked, this, &QDialog::accept);
}

}  // namespace ui

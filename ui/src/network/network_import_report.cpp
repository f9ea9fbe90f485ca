#include "network/network_import_report.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QListWidget>
#include <QPushButton>
#include <algorithm>

#include "engine/settings/catalog.h"
#include "models/settings_model.h"
#include "network/network_editor.h"
#include "network/network_import.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/choices.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int lineRole = Qt::UserRole;

QString itemText(const engine::OnnxRemark::Item& item) { return u"%1 %2"_s.arg(count(item.count), QString::fromStdString(item.name)); }

QString titleOf(const engine::OnnxImport& found) {
    std::int64_t lifted = 0, dropped = 0;
    for (const auto& remark : found.report)
        for (const auto& item : remark.items) {
            if (remark.kind == engine::OnnxRemark::Kind::lifted) lifted += item.count;
            if (remark.kind == engine::OnnxRemark::Kind::dropped) dropped += item.count;
        }
    return NetworkImportReport::tr("%1 lifted · %2 dropped · 0 refused").arg(count(lifted), count(dropped));
}

}  // namespace

NetworkImportReport::NetworkImportReport(SettingsModel* settings, NetworkImport* import, NetworkEditor* editor, QWidget* parent)
    : QFrame(parent), settings_(settings), import_(import), editor_(editor), title_(new ElidedLabel(this)), rows_(new QListWidget(this)),
      feed_(makeProse({}, "dim", this)), normalize_(new CheckBox(tr("normalise"), this)) {
    setObjectName(u"card"_s);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    title_->setFont(Theme::bold());
    title_->setAccessibleName(tr("Import report"));
    rows_->setAccessibleName(tr("What became of the ONNX model"));
    rows_->setFrameShape(NoFrame);
    rows_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    rows_->setTextElideMode(Qt::ElideRight);
    rows_->setUniformItemSizes(true);
    normalize_->setToolTip(tr("Takes the mean of the training part from each channel and divides by its deviation. Without it, pixels lie between 0 and 1."));
    auto* column = makeColumn(this, {size::inside, size::grid, size::inside, size::grid}, size::grid);
    auto* head = makeRow(size::gap);
    head->addWidget(title_, 1);
    const auto add = [&](const QString& text) {
        auto* button = new QPushButton(text, this);
        head->addWidget(button);
        return button;
    };
    copy_ = add(tr("Copy the export line"));
    data_ = add(tr("Choose the data file…"));
    train_ = add(tr("Train"));
    train_->setToolTip(tr("Makes it the network of the next run, which begins from the model's weights."));
    edit_ = add(tr("Edit as text"));
    save_ = add(tr("Save…"));
    save_->setToolTip(tr("Writes the text, and the weights beside it."));
    close_ = add(tr("Close"));
    column->addLayout(head);
    column->addWidget(rows_);
    auto* foot = makeRow(size::gap);
    foot->addWidget(feed_, 1);
    foot->addWidget(normalize_);
    column->addLayout(foot);
    connect(copy_, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(line_); });
    connect(data_, &QPushButton::clicked, this, &NetworkImportReport::dataWanted);
    connect(train_, &QPushButton::clicked, this, &NetworkImportReport::trainWanted);
    connect(edit_, &QPushButton::clicked, this, &NetworkImportReport::editWanted);
    connect(save_, &QPushButton::clicked, this, &NetworkImportReport::saveWanted);
    connect(close_, &QPushButton::clicked, this, [this] { import_->isReading() ? import_->cancel() : import_->close(); });
    connect(rows_, &QListWidget::itemClicked, this, [this](QListWidgetItem* item) { go(rows_->row(item)); });
    connect(rows_, &QListWidget::itemActivated, this, [this](QListWidgetItem* item) {
        go(rows_->row(item));
        editor_->setFocus();
    });
    connect(normalize_, &CheckBox::clicked, this, [this](bool on) { settings_->set(u"dataset.normalize"_s, on ? u"true"_s : u"false"_s); });
    connect(settings_, &SettingsModel::changed, this, &NetworkImportReport::showFeed);
    connect(import_, &NetworkImport::changed, this, &NetworkImportReport::refresh);
    refresh();
}

void NetworkImportReport::setRoom(int height) {
    room_ = height;
    fit();
}

/// As many rows as there are, within half of the page.
void NetworkImportReport::fit() {
    const int row = std::max(rows_->sizeHintForRow(0), rows_->fontMetrics().height());
    const int around = 3 * (fontMetrics().height() + 2 * size::grid) + 2 * size::inside;
    const int most = std::max(3, (room_ - around) / row);
    rows_->setFixedHeight(std::min(rows_->count(), most) * row + size::grid);
    rows_->setVisible(rows_->count() > 0);
}

void NetworkImportReport::go(int row) {
    const int line = rows_->item(row)->data(lineRole).toInt();
    if (line > 0) editor_->goTo(line);
}

void NetworkImportReport::addRow(const QString& text, int line, const QString& copy) {
    const QString shown = line > 0 ? tr("%1 · line %2").arg(text, count(line)) : text;
    auto* item = new QListWidgetItem(copy.isEmpty() ? shown : shown + u' ' + copy, rows_);
    item->setToolTip(item->text());
    item->setData(lineRole, line);
}

void NetworkImportReport::refresh() {
    setVisible(!import_->isIdle());
    rows_->clear();
    line_.clear();
    const bool found = import_->found() != nullptr;
    for (QPushButton* each : {train_, edit_, save_}) each->setVisible(found);
    data_->setVisible(import_->needsData());
    close_->setVisible(!found);
    close_->setText(import_->isReading() ? tr("Cancel") : tr("Close"));
    restyle(title_, "role", import_->problem() ? u"bad"_s : QString());
    if (import_->isReading())
        title_->setText(tr("Reading %1…").arg(import_->name()));
    else if (found)
        showFound();
    else if (import_->problem())
        showProblem();
    copy_->setVisible(!line_.isEmpty());
    showFeed();
    fit();
}

void NetworkImportReport::showFound() {
    title_->setText(u"%1 · %2"_s.arg(import_->name(), titleOf(*import_->found())));
    for (const engine::OnnxRemark& remark : import_->found()->report) {
        const QString text = engineText(remark.text);
        if (!remark.copy.empty()) line_ = QString::fromStdString(remark.copy);
        const bool leads = std::ranges::any_of(remark.items, [](const auto& item) { return item.line > 0; });
        QStringList others;
        for (const auto& item : remark.items) {
            if (leads) addRow(tr("%1: %2").arg(text, itemText(item)), item.line);
            else others << itemText(item);
        }
        if (!leads) addRow(others.isEmpty() ? text : tr("%1: %2").arg(text, others.join(u", "_s)), remark.line, QString::fromStdString(remark.copy));
    }
}

void NetworkImportReport::showProblem() {
    const auto& refused = import_->refused();
    title_->setText(refused.empty() ? tr("%1 is not read").arg(import_->name())
                                    : tr("%1 is not read: %2 operators have no layer here").arg(import_->name(), count(std::ssize(refused))));
    for (const auto& each : refused) {
        QStringList nodes;
        for (const std::string& node : each.nodes) nodes << QString::fromStdString(node);
        addRow(u"%1 × %2 (%3)"_s.arg(count(std::ssize(each.nodes)), QString::fromStdString(each.what), nodes.join(u", "_s)));
    }
    if (refused.empty()) addRow(engineText(import_->problem()->message()));
    if (const auto& hint = import_->problem()->hint(); !hint.empty()) addRow(engineText(hint));
}

/// The file does not say how its pixels were coded.
void NetworkImportReport::showFeed() {
    const auto* found = import_->found();
    const bool pictures = found != nullptr && found->data.inputs.front().field == "image";
    feed_->setVisible(pictures);
    normalize_->setVisible(pictures);
    if (!pictures) return;
    const auto& data = settings_->config().dataset;
    const auto* kind = engine::find_dataset(data.kind);
    const QString title = kind != nullptr ? engineText(kind->title) : QString::fromStdString(data.kind);
    normalize_->setChecked(data.normalize);
    const bool colours = found->data.inputs.front().sizes.front() == 3;
    const QString pixels = colours ? tr("red, green and blue from 0 to 1") : tr("pixels from 0 to 1");
    feed_->setText(data.normalize ? tr("%1 feeds %2, less the mean of its training part and divided by the deviation.").arg(title, pixels)
                                  : tr("%1 feeds %2.").arg(title, pixels));
}

}  // namespace ui

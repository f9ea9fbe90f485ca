#include <QFileDialog>
#include <QFileInfo>
#include <QFrame>
#include <QLineEdit>
#include <QMenu>
#include <QPointer>
#include <QPushButton>
#include <QWidget>
#include <optional>
#include <utility>

#include "commands/commands.h"
#include "engine/base/plain_text.h"
#include "engine/instruments/captured_step.h"
#include "engine/network/network.h"
#include "engine/settings/catalog.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "models/settings_model.h"
#include "network/network_columns.h"
#include "network/network_editor.h"
#include "network/network_export.h"
#include "network/network_files.h"
#include "network/network_foot.h"
#include "network/network_import.h"
#include "network/network_import_report.h"
#include "network/network_model.h"
#include "network/network_options.h"
#include "network/network_question.h"
#include "network/network_settings.h"
#include "network/network_sheet.h"
#include "plots/plot_link.h"
#include "text/format.h"
#include "text/language.h"
#include "text/named_output.h"
#include "theme/theme.h"
#include "view/context.h"
#include "view/view.h"
#include "widgets/elided_label.h"
#include "widgets/key_bindings.h"
#include "widgets/panel.h"
#include "widgets/save_dialog.h"
#include "xray/xray_model.h"

namespace ui {
namespace {

/// A network as text, checked while it is written, with its shapes and its drawing beside it.
class NetworkPage final : public QWidget {
    Q_DECLARE_TR_FUNCTIONS(ui::NetworkPage)
public:
    explicit NetworkPage(const Context& context, QWidget* parent);
    /// The text's widgets go before its document, which may belong to the page.
    ~NetworkPage() override { delete sheet_; }

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QLayout* makeBar();
    QPushButton* makeExports();
    void addTemplates(QPushButton* button);
    QWidget* makeSizes();
    void addKeys();
    void begin();
    QWidget* makeCards();
    void useTemplate(const QString& name);
    void showRunText();
    void exportTo(const NetworkExport& form);
    void chooseFile();
    void chooseModel();
    void openFile(const QString& file);
    void addImport();
    void saveImport();
    void save(const std::function<void()>& then = {});
    /// Does it at once, or asks first what becomes of changes that are not saved.
    void replaceText(const std::function<void()>& replace);
    void askWhatIsNeeded();
    void takeSizes();
    void refresh();
    /// The text of the selected run.
    void followRun();
    /// Types of the step that the page X-ray has traced.
    void followTrace();

    Context context_;
    NetworkModel* model_;
    NetworkFiles* files_;
    NetworkSettings* link_;
    NetworkImport* import_;
    NetworkSheet* sheet_;
    NetworkQuestion* question_;
    QPointer<XrayModel> xray_;
    std::optional<std::pair<int, QString>> pasted_;  ///< what PyTorch printed, and where it begins
    std::function<void()> waiting_;  ///< replaces the text when the user has answered
    NetworkImportReport* report_ = nullptr;
    ElidedLabel* name_ = nullptr;
    QPushButton *save_ = nullptr, *export_ = nullptr;
    QWidget *cards_ = nullptr, *foot_ = nullptr, *options_ = nullptr;
    ElidedLabel* totals_ = nullptr;
    QLineEdit *image_ = nullptr, *outputs_ = nullptr;
    QLabel *data_ = nullptr, *imageTitle_ = nullptr;
};

NetworkFiles* filesOf(const Context& context, NetworkModel* model) {
    auto* found = model->findChild<NetworkFiles*>(QString(), Qt::FindDirectChildrenOnly);
    return found != nullptr ? found : new NetworkFiles(context, model);
}

NetworkSettings* settingsOf(const Context& context, NetworkModel* model, NetworkFiles* files) {
    auto* found = model->findChild<NetworkSettings*>(QString(), Qt::FindDirectChildrenOnly);
    return found != nullptr ? found : new NetworkSettings(context.settings, model, files);
}

NetworkImport* importOf(const Context& context, NetworkModel* model, NetworkFiles* files) {
    auto* found = model->findChild<NetworkImport*>(QString(), Qt::FindDirectChildrenOnly);
    return found != nullptr ? found : new NetworkImport(context, model, files);
}

}  // namespace

QWidget* makeNetworkPage(const Context& context, QWidget* parent) { return new NetworkPage(context, parent); }

NetworkPage::NetworkPage(const Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      model_(kept<NetworkModel>(context, this)),
      files_(filesOf(context, model_)),
      link_(settingsOf(context, model_, files_)),
      import_(importOf(context, model_, files_)),
      sheet_(new NetworkSheet(context.theme, model_, this)),
      question_(new NetworkQuestion(this)) {
    auto* column = makeColumn(this, {}, size::gap);
    column->addLayout(makeBar());
    options_ = new NetworkOptions(context.theme, model_, this);
    foot_ = new NetworkFoot(context.theme, model_, sheet_->editor(), this);
    cards_ = makeCards();
    addWidgets(column, {question_, options_});
    column->addWidget(cards_, 1);
    column->addWidget(sheet_, 1);
    column->addWidget(foot_);
    addImport();
    column->addWidget(report_);
    connect(sheet_, &NetworkSheet::runTextWanted, this, &NetworkPage::showRunText);
    connect(sheet_, &NetworkSheet::xrayWanted, this, [this](const QString& module) {
        context_.commands->showPage(u"xray"_s);
        context_.link->selectLayer(module);
    });
    addKeys();
    connect(model_, &NetworkModel::checked, this, &NetworkPage::refresh);
    connect(files_, &NetworkFiles::changed, this, &NetworkPage::refresh);
    connect(link_, &NetworkSettings::changed, this, &NetworkPage::refresh);
    connect(context_.feed, &EventFeed::tracksChanged, this, &NetworkPage::followRun);
    connect(context_.link, &PlotLink::selectedChanged, this, &NetworkPage::followRun);
    followRun();
    connect(context_.commands, &Commands::settingsNeeded, model_, &NetworkModel::checkNow);
    connect(context_.commands, &Commands::networkOpened, this, [this] {
        const QString file = context_.commands->takeNetwork();
        if (!file.isEmpty()) openFile(file);
    });
    if (model_->text().isEmpty()) begin();
    if (const QString file = context_.commands->takeNetwork(); !file.isEmpty()) openFile(file);
    refresh();
}

QLayout* NetworkPage::makeBar() {
    auto* row = makeRow(size::gap);
    name_ = new ElidedLabel(this);
    name_->setFont(Theme::bold());
    name_->setAccessibleName(tr("Network"));
    auto* open = new QPushButton(tr("Open…"), this);
    save_ = new QPushButton(tr("Save"), this);
    save_->setToolTip(tr("Writes the text into its file. Training needs no file."));
    auto* templates = new QPushButton(tr("Template"), this);
    templates->setToolTip(tr("Begin with a network that comes with the program"));
    addTemplates(templates);
    auto* model = new QPushButton(tr("Import ONNX…"), this);
    model->setToolTip(tr("Reads a model that PyTorch, Keras or Paddle exported, with its weights"));
    connect(model, &QPushButton::clicked, this, &NetworkPage::chooseModel);
    export_ = makeExports();
    totals_ = new ElidedLabel(this);
    totals_->setAccessibleName(tr("Totals"));
    totals_->setProperty("role", u"dim"_s);
    row->addWidget(name_);
    addWidgets(row, {open, save_, templates, model, export_});
    row->addWidget(totals_, 1);
    row->addWidget(makeSizes());
    connect(open, &QPushButton::clicked, this, &NetworkPage::chooseFile);
    connect(save_, &QPushButton::clicked, this, [this] { save(); });
    return row;
}

void NetworkPage::addTemplates(QPushButton* button) {
    auto* menu = new QMenu(button);
    for (const std::string& each : engine::network_templates()) {
        const QString name = QString::fromStdString(each);
        connect(menu->addAction(name), &QAction::triggered, this, [this, name] { useTemplate(name); });
    }
    button->setMenu(menu);
}

void NetworkPage::useTemplate(const QString& name) {
    replaceText([this, name] {
        import_->close();
        files_->showTemplate(name);
        files_->edit();
        sheet_->editor()->setFocus();
    });
}

QPushButton* NetworkPage::makeExports() {
    auto* button = new QPushButton(tr("Export"), this);
    auto* menu = new QMenu(button);
    for (const NetworkExport& form : networkExports())
        connect(menu->addAction(u"%1 (.%2)…"_s.arg(form.title, form.ending)), &QAction::triggered, this, [this, form] { exportTo(form); });
    button->setMenu(menu);
    return button;
}

void NetworkPage::exportTo(const NetworkExport& form) {
    const QString stem = QFileInfo(files_->name()).completeBaseName();
    const auto named = askForFile(this, tr("Export the network"), stem + u'.' + form.ending, {{u"%1 (*.%2)"_s.arg(form.title, form.ending), form.ending}});
    if (!named) return;
    context_.commands->works()->write(named->file, [file = named->file, make = form.make, view = model_->good(), settings = model_->shownSettings()] {
        writerOf(file, make(view, settings))();
    });
}

/// Three ways to begin, where there is no text yet.
QWidget* NetworkPage::makeCards() {
    auto* part = new QWidget(this);
    auto* row = makeRow(part, {}, size::inside);
    row->addStretch(1);
    const auto add = [&](const QString& title, const QString& about) {
        auto* card = withName(new QFrame(part), u"card"_s);
        auto* column = makeColumn(card, {size::inside, size::inside, size::inside, size::inside}, size::gap);
        auto* button = new QPushButton(title, card);
        column->addWidget(button);
        column->addWidget(makeProse(about, "dim", card));
        column->addStretch(1);
        row->addWidget(card, 2, Qt::AlignTop);
        return button;
    };
    addTemplates(add(tr("Template"), tr("A network that comes with the program, as a text that you can change.")));
    connect(add(tr("Open…"), tr("A text that you have: NAME.network. It can be dropped on the window, too.")), &QPushButton::clicked, this,
            &NetworkPage::chooseFile);
    connect(add(tr("Import ONNX…"), tr("A model that another program exported, with its weights. It can be dropped on the window, too.")), &QPushButton::clicked, this,
            &NetworkPage::chooseModel);
    row->addStretch(1);
    return part;
}

void NetworkPage::showRunText() {
    const auto track = selectedTrack(context_);
    if (!track || track->config().model.network.empty()) return;
    const auto& own = track->config().model;
    files_->showRun(stringList(own.network.all).join(u'\n') + u'\n', own.options, trackTitle(*track));
}

/// Sizes that the text does not say.
QWidget* NetworkPage::makeSizes() {
    auto* part = new QWidget(this);
    auto* row = makeRow(part, {}, size::grid);
    data_ = makeLabel({}, "dim");
    row->addWidget(data_);
    imageTitle_ = makeLabel(tr("image"), "dim");
    image_ = new QLineEdit(part);
    image_->setAccessibleName(tr("Channels, height and width of an image"));
    image_->setToolTip(tr("Channels, height and width of an image: 3 × 32 × 32"));
    image_->setFixedWidth(image_->fontMetrics().horizontalAdvance(u"3 × 224 × 224 "_s) + 2 * size::inside);
    outputs_ = new QLineEdit(part);
    outputs_->setAccessibleName(tr("Outputs: classes, targets or words"));
    outputs_->setToolTip(tr("Classes, targets or words: the number that the text calls outputs"));
    outputs_->setFixedWidth(outputs_->fontMetrics().horizontalAdvance(u"10000"_s) + 2 * size::inside);
    addWidgets(row, {imageTitle_, image_, makeLabel(tr("outputs"), "dim"), outputs_});
    connect(image_, &QLineEdit::editingFinished, this, &NetworkPage::takeSizes);
    connect(outputs_, &QLineEdit::editingFinished, this, &NetworkPage::takeSizes);
    return part;
}

void NetworkPage::takeSizes() {
    std::vector<std::int64_t> sizes;
    for (const QString& part : image_->text().replace(u'×', u'x').split(u'x')) {
        const auto size = engine::to_number<std::int64_t>(part.trimmed().toStdString());
        if (size && *size > 0) sizes.push_back(*size);
    }
    if (sizes.size() == 3 && image_->isModified()) model_->setImage(sizes);
    const auto outputs = engine::to_number<std::int64_t>(outputs_->text().trimmed().toStdString());
    if (outputs && *outputs > 0) model_->setOutputs(*outputs);
    refresh();
}

void NetworkPage::addKeys() {
    NetworkEditor* editor = sheet_->editor();
    addPageKey(this, u"network/next-error"_s, tr("Next error"), {Qt::Key_F8}, [editor] { editor->goToFault(true); });
    addPageKey(this, u"network/previous-error"_s, tr("Previous error"), {Qt::SHIFT | Qt::Key_F8}, [editor] { editor->goToFault(false); });
    addPageKey(this, u"network/replace"_s, tr("Replace the error at the cursor"), {Qt::ALT | Qt::Key_Return, Qt::ALT | Qt::Key_Enter},
               [editor] { editor->replaceAtCursor(); });
    addPageKey(this, u"network/next-run"_s, tr("Next use of the block"), {Qt::ALT | Qt::Key_Right}, [editor] { editor->stepRun(1); });
    addPageKey(this, u"network/previous-run"_s, tr("Previous use of the block"), {Qt::ALT | Qt::Key_Left}, [editor] { editor->stepRun(-1); });
    connect(editor, &NetworkEditor::reprPasted, this, [this](int position, const QString& text) {
        pasted_ = {position, text};
        askWhatIsNeeded();
    });
    connect(editor, &NetworkEditor::saveWanted, this, [this] {
        if (save_->isEnabled() || !QFileInfo::exists(files_->file())) save();
    });
    addPageKey(this, u"network/find"_s, tr("Find"), {Qt::CTRL | Qt::Key_F}, [this] { sheet_->find(); });
}

/// The template of the chosen model; a model without one leaves the choice to the user.
void NetworkPage::begin() {
    const QString kind = QString::fromStdString(context_.settings->config().model.kind);
    if (NetworkFiles::isTemplate(kind)) files_->showTemplate(kind);
}

void NetworkPage::chooseFile() {
    const QString file = QFileDialog::getOpenFileName(this, tr("Open a network"), QFileInfo(files_->file()).path(),
                                                      tr("Networks (*.network);;All files (*)"));
    if (!file.isEmpty()) openFile(file);
}

void NetworkPage::chooseModel() {
    const QString file = QFileDialog::getOpenFileName(this, tr("Import a model"), QFileInfo(import_->file()).path(),
                                                      tr("ONNX models (*.onnx);;All files (*)"));
    if (!file.isEmpty()) replaceText([this, file] { import_->open(file); });
}

void NetworkPage::openFile(const QString& file) {
    replaceText([this, file] {
        if (NetworkImport::isOnnx(file)) return import_->open(file);
        import_->close();
        files_->open(file);
    });
}

void NetworkPage::addImport() {
    report_ = new NetworkImportReport(context_.settings, import_, sheet_->editor(), this);
    connect(import_, &NetworkImport::changed, this, &NetworkPage::refresh);
    connect(report_, &NetworkImportReport::editWanted, this, [this] {
        import_->take();
        sheet_->editor()->setFocus();
    });
    connect(report_, &NetworkImportReport::trainWanted, this, [this] {
        import_->take();
        context_.commands->showPage(u"training"_s);
    });
    connect(report_, &NetworkImportReport::saveWanted, this, &NetworkPage::saveImport);
    connect(report_, &NetworkImportReport::dataWanted, this, [this] {
        const QString file = import_->file();
        const QString data = QFileDialog::getOpenFileName(this, tr("The file of its tensors"), QFileInfo(file).path(), tr("All files (*)"));
        if (!data.isEmpty()) import_->open(file, data);
    });
}

void NetworkPage::saveImport() {
    const auto named = askForFile(this, tr("Save the network"), files_->name(), {{tr("Networks (*.network)"), u"network"_s}});
    if (named) import_->save(named->file);
}

void NetworkPage::save(const std::function<void()>& then) {
    // The files may outlive the page.
    const auto after = [page = QPointer<NetworkPage>(this), then] {
        if (page && then) then();
    };
    if (!files_->file().isEmpty()) return files_->save(files_->file(), after);
    const auto named = askForFile(this, tr("Save the network"), files_->name(), {{tr("Networks (*.network)"), u"network"_s}});
    if (named) files_->save(named->file, after);
}

void NetworkPage::replaceText(const std::function<void()>& replace) {
    if (!files_->isEdited()) return replace();
    waiting_ = replace;
    askWhatIsNeeded();
}

/// One question at a time, the most urgent first.
void NetworkPage::askWhatIsNeeded() {
    const auto go = [this] {
        if (const auto replace = std::exchange(waiting_, nullptr)) replace();
    };
    if (pasted_ && model_->text().mid(pasted_->first, pasted_->second.size()) != pasted_->second) pasted_.reset();
    if (files_->isChangedOnDisk()) {
        question_->ask(tr("%1 has changed on the disk.").arg(files_->name()),
                       {{tr("Reload"), [this, go] {
                             files_->reload();
                             go();
                         }},
                        {tr("Keep mine"), [this] { files_->keepMine(); }}});
    } else if (waiting_) {
        question_->ask(tr("%1 has changes that are not saved.").arg(files_->name()),
                       {{tr("Save them…"), [this, go] { save(go); }},
                        {tr("Drop them"), go},
                        {tr("Go on with this text"), [this] {
                             waiting_ = nullptr;
                             askWhatIsNeeded();
                         }}});
    } else if (pasted_) {
        const auto end = [this](bool convert) {
            const auto pasted = std::exchange(pasted_, std::nullopt);
            if (convert && pasted) model_->convertRepr(pasted->first, pasted->second);
            askWhatIsNeeded();
            sheet_->editor()->setFocus();
        };
        question_->ask(tr("PyTorch prints a model like this, without its connections."),
                       {{tr("Convert it"), [end] { end(true); }}, {tr("Leave it"), [end] { end(false); }}});
    } else if (files_->isRun()) {
        question_->ask(tr("This is the %1, to read. The next run trains your own.").arg(files_->name()),
                       {{tr("Edit a copy"), [this] {
                             files_->edit();
                             sheet_->editor()->setFocus();
                         }},
                        {tr("Back"), [this] { files_->back(); }}});
    } else if (const QString name = files_->asideName(); !name.isEmpty()) {
        question_->ask(tr("A draft of %1, which is not saved, was kept.").arg(name),
                       {{tr("Go on with the draft"), [this] { replaceText([this] { files_->takeDraft(); }); }},
                        {tr("Drop the draft"), [this] { files_->dropDraft(); }}});
    } else if (import_->found() != nullptr) {
        question_->hide();  // the report has the answers
    } else if (model_->isReadOnly()) {
        question_->ask(tr("A network that comes with the program. It can be read here; a copy can be changed."),
                       {{tr("Edit a copy"), [this] {
                             files_->edit();
                             sheet_->editor()->setFocus();
                         }}});
    } else if (!link_->isTrained() && !files_->name().isEmpty()) {
        const auto model = engine::find_model(context_.settings->config().model);
        question_->ask(tr("The settings train %1, and not this text.").arg(model ? engineText(model->title) : QString()),
                       {{tr("Train this text"), [this] { link_->train(); }}});
    } else {
        question_->hide();
    }
}

void NetworkPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    const QObject* around = context_.kept != nullptr ? context_.kept : window();
    if (xray_ == nullptr && (xray_ = around->findChild<XrayModel*>()) != nullptr)
        connect(xray_, &XrayModel::traceChanged, this, &NetworkPage::followTrace);
    followTrace();
}

void NetworkPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    report_->setRoom(height() / 2);
}

void NetworkPage::followRun() {
    const auto track = selectedTrack(context_);
    const bool text = track && !track->config().model.network.empty();
    model_->setRunText(text ? std::optional(stringList(track->config().model.network.all)) : std::nullopt,
                       text ? trackTitle(*track) : QString());
}

void NetworkPage::followTrace() {
    TracedStep step;
    if (xray_ != nullptr && xray_->ownTrace()) {
        const engine::RunConfig& config = xray_->captured() ? xray_->captured()->config() : xray_->runConfig();
        step.preset = config.precision.preset;
        const QString kind = QString::fromStdString(config.model.kind);
        if (!config.model.network.empty())
            step.lines = stringList(config.model.network.all);
        else if (NetworkFiles::isTemplate(kind))  // its text makes the network of this kind
            step.lines = textLines(QString::fromStdString(engine::network_template(config.model.kind)));
        for (const engine::XrayOp& op : xray_->ownTrace()->ops) {
            if (op.pass != engine::XrayPass::forward) continue;
            const std::string written = op.outputs.empty() ? std::string() : op.outputs.front().dtype;
            const bool hasFractions = !op.compute_dtype.empty() && (written.starts_with('f') || written.starts_with("bf"));
            step.types.push_back({op.module, op.op, op.compute_dtype, hasFractions ? written : std::string()});
        }
    }
    model_->setMeasured(std::move(step));
}

void NetworkPage::refresh() {
    askWhatIsNeeded();
    name_->setText(files_->isEdited() ? tr("%1 · edited").arg(files_->name()) : files_->name());
    const bool any = !files_->name().isEmpty();
    name_->setVisible(any);
    cards_->setVisible(!any);
    for (QWidget* each : {static_cast<QWidget*>(sheet_), options_}) each->setVisible(any);
    foot_->setVisible(any && import_->isIdle());
    save_->setEnabled(any && (files_->isEdited() || files_->file().isEmpty()));
    export_->setEnabled(any && !model_->isStale());
    export_->setToolTip(model_->isStale() ? tr("The text has an error.") : tr("The network in another form, with these sizes and options"));
    const auto& network = model_->good().network;
    totals_->setText(model_->good().text.isEmpty() ? unmeasured() : tr("%1 layers · result %2")
                         .arg(count(std::ssize(network.rows)), network.shape.empty() ? unmeasured() : shapeText(network.shape)));
    totals_->setEnabled(!model_->isStale());
    const auto known = model_->data();
    const QString title = model_->dataTitle();
    restyle(data_, "role", title.isEmpty() ? u"caution"_s : u"dim"_s);
    data_->setText(title.isEmpty() ? tr("sizes:") : spaced(tr("sizes of %1:").arg(title)));
    data_->setToolTip(title.isEmpty() ? tr("Not those of the settings' data") : tr("The data set of the settings"));
    const auto image = std::ranges::find(known.inputs, "image", &engine::NetworkInput::field);
    const bool pictures = image != known.inputs.end();
    imageTitle_->setVisible(pictures);
    image_->setVisible(pictures);
    if (pictures && !image_->hasFocus()) {
        QStringList sizes;
        for (const std::int64_t each : image->sizes) sizes << QString::number(each);
        image_->setText(sizes.join(u" × "_s));
    }
    if (!outputs_->hasFocus()) outputs_->setText(QString::number(known.outputs));
}

}  // namespace ui

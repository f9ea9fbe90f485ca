

FAMILIES = {"mlp": Mlp, "lenet": LeNet, "autoencoder": Autoencoder, "dlrm": Dlrm}
WITH_MASKS = {"mobilenetv2": mobilenet, "rnn-lm": RnnLm, "transformer-lm": Gpt, "bert": Bert}


def network(weights, masks):
    """The model of PyTorch with the capsule's weights."""
    if KIND in FAMILIES:
        model = FAMILIES[KIND](weights)
    else:
        model = WITH_MASKS[KIND](weights, masks) if KIND in WITH_MASKS else resnet(weights)
    missing, unknown = model.load_state_dict(weights, strict=False)
    tied = {"decoder.weight", "lm_head.weight", "cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
    lacking = [name for name in missing if name not in tied and not name.endswith("num_batches_tracked")]
    if lacking or unknown:
        raise SystemExit(f"the weights do not fit: {lacking + unknown}")
    model = model.to(DEVICE)
    if WEIGHTS == "fp16":
        model.half()
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and BATCH_NORM == "fp32":
            module.float()
        if hasattr(module, "inplace"):
            module.inplace = False
    return model.train()


def fields_of(tensors, description, batch):
    """The fields of a micro-batch by their kind, those of other kinds by name. Pictures lie as N, H, W, C."""
    fields = {}
    named = {name.rpartition("/")[2]: tensor.to(DEVICE) for name, tensor in part_of(tensors, f"batch/{batch}/").items()}
    for field in description["fields"]:
        tensor = named.pop(field["name"])
        fields[field["kind"]] = tensor.permute(0, 3, 1, 2) if field["kind"] == "image" else tensor
    return {**named, **fields}


def masked_count(window):
    return max(1, (15 * window + 50) // 100)


def inputs_of(fields, state):
    if KIND == "dlrm":
        return [fields["features"], fields["indices"]]
    if KIND == "rnn-lm":
        return [fields["tokens"], *state]
    if KIND == "bert":
        return [fields["tokens"], fields["masked"][:, :masked_count(fields["label"].shape[1])]]
    if "tokens" in fields:
        return [fields["tokens"]]
    return [fields["image"] if "image" in fields else fields["features"]]


def loss_of(output, fields, inputs):
    if KIND == "autoencoder":
        return F.mse_loss(output, fields["image"].to(output.dtype))
    target = fields["label"] if "label" in fields else fields["value"]
    if KIND == "dlrm":
        return F.binary_cross_entropy_with_logits(output, target.to(output.dtype)[:, None])
    if KIND == "bert":
        target = target.gather(1, inputs[1]).flatten()
    if KIND == "rnn-lm":
        target = target.t().flatten()
    if target.is_floating_point():
        return F.mse_loss(output, target.to(output.dtype).reshape(output.shape))
    return F.cross_entropy(output, target.flatten())


def weights_of(tensors, description):
    """Weight of each micro-batch in the step's mean: by the terms of its loss, of which a last, smaller batch or a shorter
    window has fewer."""
    terms = []
    for batch in range(len(description["batches"])):
        fields = fields_of(tensors, description, batch)
        if KIND == "bert":
            terms.append(inputs_of(fields, [])[1].numel())
        else:
            terms.append(next(fields[name] for name in ("label", "value", "image") if name in fields).numel())
    return [each / sum(terms) for each in terms]


def number(value):
    return value if math.isfinite(value) else str(value)


def compute(tensors, description, trace):
    """Trains the step up to its gradients. Returns the model and the loss."""
    weights = part_of(tensors, "weights/")
    config = description["config"]
    masks = Masks(config["seed"], int(description["counts"]["steps"]))
    image = next((field["shape"] for field in description["fields"] if field["kind"] == "image"), None)
    if OPTIONS.get("stem") == "auto":
        OPTIONS["stem"] = "imagenet" if min(image[1:]) >= 128 else "cifar"
    model = network(weights, masks)
    casting = Casting(model, NAMED.get(AUTOCAST), FORCE, trace)
    for module in model.modules():
        module.casting = casting
    trace.watch_weights(model)
    # A recurrent model's state begins anew with each pass over the data, and goes on from micro-batch to micro-batch.
    begins = description["batches"][0]["index_in_epoch"] == 0
    state = [] if begins else [tensor.to(DEVICE) for _, tensor in sorted(part_of(tensors, "carried/").items())]
    losses, weights = [], weights_of(tensors, description)
    for batch, weight in enumerate(weights):
        masks.begin(batch)
        fields = fields_of(tensors, description, batch)
        inputs = inputs_of(fields, state)
        for name, tensor in fields.items():
            if is_floating(tensor):
                trace.see("batch", "", name, tensor)
        half = [each.half() if WEIGHTS == "fp16" and is_floating(each) else each for each in inputs]
        with casting:
            output = model(*half)
            if MASTERS:
                trace.enter("", "to", [output], [output])
            loss = loss_of(output.float() if MASTERS else output, fields, inputs)
        state = getattr(model, "state", state)
        losses.append(loss.item() * weight)
        (loss * weight * SCALE).backward()
    return model, sum(losses)


def main():
    path = CAPSULE if os.path.isabs(CAPSULE) else os.path.join(os.path.dirname(os.path.abspath(__file__)), CAPSULE)
    tensors, description = read_capsule(path)
    trace = Trace()
    model, loss = compute(tensors, description, trace)
    bad = [name for name, tensor in part_of(tensors, "weights/").items()
           if tensor.is_floating_point() and not tensor.isfinite().all()]
    batch = next((each for each in trace.found if each["stage"] == "batch"), None)
    first = {"stage": "state", "name": bad[0]} if bad else batch or trace.first(loss)
    norms = {name: number(parameter.grad.double().norm().item())
             for name, parameter in model.named_parameters() if parameter.grad is not None}
    print(json.dumps({"torch": torch.__version__, "device": DEVICE, "loss": number(loss), "loss_scale": SCALE,
                      "first": first, "norms": norms}))


if __name__ == "__main__":
    sys.exit(main())

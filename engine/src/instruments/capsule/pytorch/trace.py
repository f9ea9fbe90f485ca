

class Trace:
    """Non-finite tensors in the order in which they come up, operation by operation: outputs, then gradients of inputs."""

    def __init__(self):
        self.found, self.calls, self.muted = [], 0, 0

    def see(self, stage, module, name, tensor, call=-1, index=0):
        bad = ~torch.isfinite(tensor)
        if not bad.any():
            return
        place = bad.nonzero()[0].tolist()
        self.found.append({"stage": stage, "module": module, "name": name, "call": call, "index_of_input": index,
                           "dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape),
                           "bad": int(bad.sum()), "index": place, "value": str(tensor[tuple(place)].item())})

    def enter(self, module, op, before, after):
        """An operation begins: its inputs before and after their casts."""
        self.calls += 1
        for index, (given, cast) in enumerate(zip(before, after)):
            for tensor in (cast,) if cast is given else (cast, given):
                if tensor.requires_grad:
                    self.watch(tensor, module, op, index)

    def watch(self, tensor, module, op, index):
        # A copy of the handle would see the gradients of all readers; the operation's own is that of a node of its own.
        call = self.calls
        if not tensor.is_leaf:
            tensor.register_hook(lambda g: self.see("backward", module, op + "_backward", g, call, index))

    def leave(self, module, op, out):
        for tensor in tensors_in(out if isinstance(out, (list, tuple)) else (out,)):
            self.see("forward", module, op, tensor.detach(), self.calls)

    def watch_weights(self, model):
        for name, parameter in model.named_parameters():
            module = name.rpartition(".")[0]
            parameter.register_hook(lambda g, module=module, name=name: self.see("backward", module, name + ".grad", g))

    def first(self, loss):
        """First non-finite tensor: of the forward pass only if it reaches the loss; of one operation's gradients the
        first input's."""
        stage = "forward" if not math.isfinite(loss) else "backward"
        found = [each for each in self.found if each["stage"] == stage]
        if not found:
            return None
        same = [each for each in found if each["call"] == found[0]["call"] and each["call"] >= 0]
        return min(same, key=lambda each: each["index_of_input"]) if same else found[0]

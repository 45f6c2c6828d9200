// The page in a frame of a notebook; it tells which rows are selected.
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "Explorer";
  frame.style.cssText = `width:100%;height:${model.get("height")}px;border:0`;
  frame.srcdoc = model.get("page");
  const listen = (event) => {
    if (event.source !== frame.contentWindow || !Array.isArray(event.data?.lannSelected)) return;
    model.set("selected", event.data.lannSelected);
    model.save_changes();
  };
  window.addEventListener("message", listen);
  el.append(frame);
  return () => window.removeEventListener("message", listen);
}

export default { render };

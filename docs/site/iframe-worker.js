// Search on a site that is read from a disk: browsers start no worker from a file, so a hidden frame does its work.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.body.appendChild(document.createElement("iframe"));
      frame.hidden = true;
      this.inside = frame.contentWindow;
      addEventListener("message", (event) => {
        if (event.source !== this.inside) return;
        this.dispatchEvent(new MessageEvent("message", { data: event.data }));
        if (this.onmessage) this.onmessage(event);
      });
      const { document: page } = this.inside;
      page.open();
      page.write("<script>postMessage = (said) => parent.postMessage(said, '*')</" + "script>");
      page.write(`<script src="${address}"></` + "script>");
      page.close();
      this.loaded = new Promise((done) => this.inside.addEventListener("load", done));
    }

    postMessage(said) {
      this.loaded.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data: said })));
    }

    terminate() {
      this.inside.frameElement.remove();
    }
  };
}

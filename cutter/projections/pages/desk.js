// Adds a button next to each command that copies it. Every page shows the commands without this script.
"use strict";
(() => {
  if (!navigator.clipboard) return;
  for (const command of document.querySelectorAll("code.command")) {
    const text = command.textContent;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${text}`);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Select the command and copy it";
      }
      button.setAttribute("aria-label", `${button.textContent}: ${text}`);
    });
    command.after(button);
  }
})();

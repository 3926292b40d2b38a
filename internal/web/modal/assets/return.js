// The page on which a shopper lands after a challenge. It tells the frame around it, which then asks what became of the
// payment: what the address says counts for nothing.
const transaction = new URLSearchParams(location.search).get("transaction_id");
if (parent === window) {
  // The bank has led out of the frame. The payment is found by its booking all the same.
  document.getElementById("wait").hidden = true;
  document.getElementById("alone").hidden = false;
} else parent.postMessage({ holdfast: 1, kind: "returned", transaction }, location.origin);

// The page to which the bank sends the shopper after a challenge. It notifies the frame around it, which then asks the
// service for the outcome. Nothing in the page's URL is trusted.
const transaction = new URLSearchParams(location.search).get("transaction_id");
if (parent === window) {
  // The bank's page has navigated out of the frame. The payment can still be found by its booking.
  document.getElementById("wait").hidden = true;
  document.getElementById("alone").hidden = false;
} else parent.postMessage({ holdfast: 1, kind: "returned", transaction }, location.origin);

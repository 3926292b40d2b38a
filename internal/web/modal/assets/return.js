// The page to which the bank sends the shopper after a challenge. It tells the frame around it, and the frame then asks the
// service for the outcome. Nothing in the page's address is trusted.
const transaction = new URLSearchParams(location.search).get("transaction_id");
if (parent === window) {
  // The bank's page has left the frame. The service still finds the payment by its booking.
  document.getElementById("wait").hidden = true;
  document.getElementById("alone").hidden = false;
} else parent.postMessage({ holdfast: 1, kind: "returned", transaction }, location.origin);

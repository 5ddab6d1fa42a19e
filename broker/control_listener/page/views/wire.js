export const title = "Wire";
export function open() { return { async refresh() {} }; }

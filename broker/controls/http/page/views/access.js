// Access: the users of the cluster and its ACLs.

import { read } from "../api.js";
import { fill, h } from "../dom.js";
import { table } from "../table.js";
import { name } from "../text.js";

export const title = "ACLs and users";

const USER_COLUMNS = [
  { title: "User", value: (row) => [row.name, row.super_user], cell: (row) => [name(row.name), row.super_user && h("span", { class: "tag" }, "super user")] },
  { title: "Mechanisms", value: (row) => row.mechanisms, cell: (row) => row.mechanisms.join(", ") || h("span", { class: "faint" }, "no password") },
];

const ACL_COLUMNS = [
  { title: "Principal", value: (row) => row.principal, cell: (row) => name(row.principal) },
  { title: "Permission", value: (row) => row.permission, cell: (row) => h("span", { class: `state ${row.permission === "ALLOW" ? "good" : "bad"}` }, row.permission) },
  { title: "Operation", value: (row) => row.operation },
  { title: "Resource", value: (row) => row.resource_type },
  { title: "Name", value: (row) => [row.resource_name, row.pattern_type], cell: (row) => [name(row.resource_name), row.pattern_type === "PREFIXED" && h("span", { class: "tag" }, "prefix")] },
  { title: "Host", value: (row) => row.host, cell: (row) => name(row.host) },
];

export function open(main) {
  const users = table("Users", USER_COLUMNS, (row) => row.name, "The cluster has no users. `--user` and AlterUserScramCredentials add some.");
  const acls = table("ACLs", ACL_COLUMNS, JSON.stringify, "The cluster has no ACLs. Without an authorizer, every client may do everything.");
  fill(main, h("h1", {}, title), h("h2", {}, "Users"), users.element, h("h2", {}, "ACLs"), acls.element);
  return {
    async refresh() {
      const [userList, aclList] = await Promise.all([read("/user/list"), read("/acl/list")]);
      users.update(userList);
      acls.update(aclList);
    },
  };
}

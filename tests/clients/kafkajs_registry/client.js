// Registers schemas with @kafkajs/confluent-schema-registry, encodes and decodes values, and prints what the registry has answered.
const { COMPATIBILITY, SchemaRegistry, SchemaType } = require('@kafkajs/confluent-schema-registry');

const order = (...fields) => JSON.stringify({ type: 'record', name: 'Order', namespace: 'shop', fields });
const id = { name: 'id', type: 'long' };
const proto = 'syntax = "proto3"; message Order { int64 id = 1; }';
const json = JSON.stringify({ type: 'object', properties: { id: { type: 'integer' } } });

async function main(host) {
  const registry = new SchemaRegistry({ host });
  const lines = [];
  const avro = await registry.register({ type: SchemaType.AVRO, schema: order(id) });
  const again = await registry.register({ type: SchemaType.AVRO, schema: order(id) });
  lines.push([avro.id === again.id, await registry.getLatestSchemaId('shop.Order') === avro.id]);
  for (const [type, schema] of [[SchemaType.AVRO, order(id)], [SchemaType.PROTOBUF, proto], [SchemaType.JSON, json]]) {
    const registered = await registry.register({ type, schema }, { subject: `${type}-value` });
    const encoded = await registry.encode(registered.id, { id: 7 });
    const reader = new SchemaRegistry({ host }); // without what the other one has cached
    lines.push([type, Number((await reader.decode(encoded)).id)]);
  }
  const total = { name: 'total', type: 'long' };
  const refused = await registry.register(
    { type: SchemaType.AVRO, schema: order(id, total) }, { compatibility: COMPATIBILITY.BACKWARD },
  ).catch((error) => error);
  lines.push([refused.status, refused.message.includes('total')]);
  const unknown = await registry.getSchema(99).catch((error) => error);
  lines.push([unknown.status]);
  console.log(JSON.stringify(lines));
}

main(process.argv[2]);

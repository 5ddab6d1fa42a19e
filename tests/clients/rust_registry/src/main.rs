// Registers schemas of all three types with schema_registry_converter, and encodes and decodes values with them, also with the schema's
// GUID in a header. The argument is the URL of the registry.

use std::env;

use apache_avro::types::Value;
use schema_registry_converter::blocking::avro::{AvroDecoder, AvroEncoder};
use schema_registry_converter::blocking::json::{JsonDecoder, JsonEncoder};
use schema_registry_converter::blocking::proto_raw::{ProtoRawDecoder, ProtoRawEncoder};
use schema_registry_converter::blocking::schema_registry::{SrSettings, get_all_subjects, is_compatible_schema, post_schema};
use schema_registry_converter::error::SRCError;
use schema_registry_converter::schema_registry_common::{SchemaType, SubjectNameStrategy, SuppliedReference, SuppliedSchema};
use serde_json::json;

const ORDER: &str = r#"{"type": "record", "name": "Order", "namespace": "shop", "fields": [
    {"name": "id", "type": "long"}, {"name": "paid", "type": "shop.Money"}]}"#;
const INCOMPATIBLE: &str = r#"{"type": "record", "name": "Order", "namespace": "shop", "fields": [{"name": "id", "type": "string"}]}"#;
const MONEY: &str = r#"{"type": "record", "name": "Money", "namespace": "shop", "fields": [{"name": "cents", "type": "int"}]}"#;
const ITEM: &str = r#"{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}"#;
const PARCEL: &str = r#"syntax = "proto3"; package shop; message Parcel { message Label { int64 id = 1; } }"#;

fn value_of(topic: &str, schema_type: SchemaType, schema: &str) -> SubjectNameStrategy {
    SubjectNameStrategy::TopicNameStrategyWithSchema(topic.into(), false, SuppliedSchema::new(None, schema_type, schema.into()))
}

fn avro(settings: &SrSettings) -> Result<(), SRCError> {
    let money = SuppliedReference::new("shop.Money".into(), "money".into(), MONEY.into());
    let order = SuppliedSchema::new(Some("shop.Order".into()), SchemaType::Avro, ORDER.into()).with_references(vec![money]);
    let registered = post_schema(settings, "orders-value".into(), order.clone())?;
    println!("avro: id {}, again {}", registered.id, post_schema(settings, "orders-value".into(), order)?.id);

    let latest = SubjectNameStrategy::TopicNameStrategy("orders".into(), false);
    let values = || vec![("id", Value::Long(7)), ("paid", Value::Record(vec![("cents".into(), Value::Int(250))]))];
    let (encoder, decoder) = (AvroEncoder::new(settings.clone()), AvroDecoder::new(settings.clone()));
    let bytes = encoder.encode(values(), &latest)?;
    println!("avro: {bytes:?} is {:?}", decoder.decode(Some(&bytes))?.value);
    let (bytes, header) = encoder.encode_with_header_id(values(), &latest, false)?;
    println!("avro: {bytes:?} is {:?} by {}", decoder.decode_with_header_id(Some(&header.value), Some(&bytes))?.value, header.name);

    let incompatible = || SuppliedSchema::new(None, SchemaType::Avro, INCOMPATIBLE.into());
    println!("avro: compatible {}", is_compatible_schema(settings, "orders-value".into(), incompatible())?);
    let refused = post_schema(settings, "orders-value".into(), incompatible()).unwrap_err();
    println!("avro: {}", refused.cause.unwrap_or_default().split(',').next().unwrap_or_default());
    println!("avro: {}", decoder.decode(Some(&[0, 0, 0, 3, 231, 2])).unwrap_err().cause.unwrap_or_default());
    Ok(())
}

fn json(settings: &SrSettings) -> Result<(), SRCError> {
    let bytes = JsonEncoder::new(settings.clone()).encode(&json!({"id": 7}), &value_of("items", SchemaType::Json, ITEM))?;
    println!("json: {:?} is {}", &bytes[..5], JsonDecoder::new(settings.clone()).decode(Some(&bytes))?.unwrap().value);
    Ok(())
}

fn protobuf(settings: &SrSettings) -> Result<(), SRCError> {
    let strategy = value_of("parcels", SchemaType::Protobuf, PARCEL);
    let bytes = ProtoRawEncoder::new(settings.clone()).encode(&[8, 7], "shop.Parcel.Label", &strategy)?;
    let decoded = ProtoRawDecoder::new(settings.clone()).decode(Some(&bytes))?.unwrap();
    println!("protobuf: {bytes:?} is {:?} of {}", decoded.bytes, decoded.full_name);
    Ok(())
}

fn main() -> Result<(), SRCError> {
    let settings = SrSettings::new(env::args().nth(1).expect("the URL of the registry"));
    avro(&settings)?;
    json(&settings)?;
    protobuf(&settings)?;
    println!("{:?}", get_all_subjects(&settings)?);
    Ok(())
}

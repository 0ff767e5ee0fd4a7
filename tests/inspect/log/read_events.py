"""Prints the events of a TensorBoard file as JSON. Reads records and protocol buffers by itself and checks checksums."""
import json
import math
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(content):
    at = 0
    while at < len(content):
        length, check = struct.unpack_from("<QI", content, at)
        if check != masked(content[at:at + 8]):
            sys.exit(f"the checksum of the length at {at} is wrong")
        data = content[at + 12:at + 12 + length]
        if len(data) < length or struct.unpack_from("<I", content, at + 12 + length)[0] != masked(data):
            sys.exit(f"the checksum of the data at {at} is wrong")
        yield data
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif wire == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        elif wire == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        else:
            sys.exit(f"wire type {wire}")
        yield number, value


def histogram(data):
    names = {1: "min", 2: "max", 3: "num", 4: "sum", 5: "sum_squares", 6: "bucket_limit", 7: "bucket"}
    out = {}
    for number, value in fields(data):
        out[names[number]] = list(struct.unpack(f"<{len(value) // 8}d", value)) if number >= 6 else value
    return out


def event(data):
    out = {"wall_time": 0, "step": 0, "values": {}}
    for number, value in fields(data):
        if number == 1:
            out["wall_time"] = value
        elif number == 2:
            out["step"] = value
        elif number == 3:
            out["file_version"] = value.decode()
        elif number == 5:
            for _, summary_value in fields(value):
                parts = dict(fields(summary_value))
                tag = parts[1].decode()
                if tag in out["values"]:
                    sys.exit(f"the tag {tag} stands twice in a step")
                number = histogram(parts[5]) if 5 in parts else parts[2]
                finite = not isinstance(number, float) or math.isfinite(number)
                out["values"][tag] = number if finite else str(number)
        else:
            sys.exit(f"field {number} of an event")
    return out


with open(sys.argv[1], "rb") as file:
    print(json.dumps([event(data) for data in records(file.read())]))

"""What S3 says of the bytes of an object, whoever wrote it."""

from __future__ import annotations

import hashlib

from tests.contract.s3.places import Place
from toolkit.storage import Checksum

_PART = 5 * 1024 * 1024


def test_without_a_checksum_the_etag_is_told(place: Place) -> None:
    system = place.opened()
    system.write(place.at("d/a"), [b"1"])
    expected = hashlib.md5(b"1", usedforsecurity=False).hexdigest()
    assert system.checksum(place.at("d/a")) == Checksum("ETag", expected.encode())


def test_the_checksum_of_the_whole_object_stands_above_the_etag(place: Place) -> None:
    with place.store.client() as client:
        client.put_object(Bucket=place.bucket, Key="d/a", Body=b"1", ChecksumAlgorithm="SHA256")
    assert place.opened().checksum(place.at("d/a")) == Checksum("SHA256", hashlib.sha256(b"1").digest())


def test_a_checksum_of_the_checksums_of_parts_is_not_taken_for_one_of_the_bytes(place: Place) -> None:
    bucket, key = place.bucket, "d/a"
    with place.store.client() as client:
        started = client.create_multipart_upload(Bucket=bucket, Key=key, ChecksumAlgorithm="SHA256")
        upload = started["UploadId"]
        sent = [
            client.upload_part(
                Bucket=bucket,
                Key=key,
                UploadId=upload,
                PartNumber=number,
                Body=bytes(_PART),
                ChecksumAlgorithm="SHA256",
            )
            for number in (1, 2)
        ]
        client.complete_multipart_upload(
            Bucket=bucket,
            Key=key,
            UploadId=upload,
            MultipartUpload={
                "Parts": [
                    {"PartNumber": number, "ETag": each["ETag"], "ChecksumSHA256": each["ChecksumSHA256"]}
                    for number, each in enumerate(sent, 1)
                ]
            },
        )
    found = place.opened().checksum(place.at(key))
    assert found is not None
    assert found.algorithm == "SHA256-composite"
    assert found.value != hashlib.sha256(bytes(2 * _PART)).digest()

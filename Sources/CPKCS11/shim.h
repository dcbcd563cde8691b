// The part of PKCS #11 (Cryptoki 2.40, OASIS) that finding a key and signing with it takes. Names and numbers are the
// standard's; functions that nobody calls keep their place in the list, without their types.
#ifndef CPKCS11_SHIM_H
#define CPKCS11_SHIM_H

typedef unsigned char CK_BYTE;
typedef unsigned long CK_ULONG;
typedef CK_ULONG CK_RV;

typedef struct { CK_BYTE major, minor; } CK_VERSION;

typedef struct {
    CK_BYTE label[32];
    CK_BYTE manufacturerID[32];
    CK_BYTE model[16];
    CK_BYTE serialNumber[16];
    CK_ULONG flags;
    CK_ULONG counts[10];  // of sessions, the PIN's lengths and memory
    CK_VERSION hardwareVersion;
    CK_VERSION firmwareVersion;
    CK_BYTE utcTime[16];
} CK_TOKEN_INFO;

typedef struct { CK_ULONG type; void *pValue; CK_ULONG ulValueLen; } CK_ATTRIBUTE;
typedef struct { CK_ULONG mechanism; void *pParameter; CK_ULONG ulParameterLen; } CK_MECHANISM;
typedef struct { CK_ULONG hashAlg, mgf, sLen; } CK_RSA_PKCS_PSS_PARAMS;
// No functions for locks: the module uses the system's.
typedef struct { void *CreateMutex, *DestroyMutex, *LockMutex, *UnlockMutex; CK_ULONG flags; void *pReserved; } CK_C_INITIALIZE_ARGS;

typedef struct {
    CK_VERSION version;
    CK_RV (*C_Initialize)(void *args);
    CK_RV (*C_Finalize)(void *reserved);
    void *C_GetInfo;
    void *C_GetFunctionList;
    CK_RV (*C_GetSlotList)(CK_BYTE tokenPresent, CK_ULONG *slots, CK_ULONG *count);
    void *C_GetSlotInfo;
    CK_RV (*C_GetTokenInfo)(CK_ULONG slot, CK_TOKEN_INFO *info);
    void *C_GetMechanismList, *C_GetMechanismInfo, *C_InitToken, *C_InitPIN, *C_SetPIN;
    CK_RV (*C_OpenSession)(CK_ULONG slot, CK_ULONG flags, void *application, void *notify, CK_ULONG *session);
    CK_RV (*C_CloseSession)(CK_ULONG session);
    void *C_CloseAllSessions, *C_GetSessionInfo, *C_GetOperationState, *C_SetOperationState;
    CK_RV (*C_Login)(CK_ULONG session, CK_ULONG user, const CK_BYTE *pin, CK_ULONG length);
    void *C_Logout, *C_CreateObject, *C_CopyObject, *C_DestroyObject, *C_GetObjectSize;
    CK_RV (*C_GetAttributeValue)(CK_ULONG session, CK_ULONG object, CK_ATTRIBUTE *attributes, CK_ULONG count);
    void *C_SetAttributeValue;
    CK_RV (*C_FindObjectsInit)(CK_ULONG session, CK_ATTRIBUTE *attributes, CK_ULONG count);
    CK_RV (*C_FindObjects)(CK_ULONG session, CK_ULONG *objects, CK_ULONG maximum, CK_ULONG *count);
    CK_RV (*C_FindObjectsFinal)(CK_ULONG session);
    void *C_EncryptInit, *C_Encrypt, *C_EncryptUpdate, *C_EncryptFinal;
    void *C_DecryptInit, *C_Decrypt, *C_DecryptUpdate, *C_DecryptFinal;
    void *C_DigestInit, *C_Digest, *C_DigestUpdate, *C_DigestKey, *C_DigestFinal;
    CK_RV (*C_SignInit)(CK_ULONG session, CK_MECHANISM *mechanism, CK_ULONG key);
    CK_RV (*C_Sign)(CK_ULONG session, const CK_BYTE *data, CK_ULONG length, CK_BYTE *signature, CK_ULONG *signatureLength);
    // Those after these are not used, so they are left out.
} CK_FUNCTION_LIST;

typedef CK_RV (*CK_C_GetFunctionList)(CK_FUNCTION_LIST **list);

enum {
    CKF_OS_LOCKING_OK = 0x2,
    CKF_SERIAL_SESSION = 0x4,
    CKF_LOGIN_REQUIRED = 0x4,
    CKF_PROTECTED_AUTHENTICATION_PATH = 0x100,
    CKF_USER_PIN_FINAL_TRY = 0x20000,
    CKF_USER_PIN_LOCKED = 0x40000,
    CKU_USER = 1,
    CKO_PUBLIC_KEY = 2,
    CKO_PRIVATE_KEY = 3,
    CKK_RSA = 0,
    CKK_EC = 3,
    CKA_CLASS = 0x0,
    CKA_LABEL = 0x3,
    CKA_KEY_TYPE = 0x100,
    CKA_ID = 0x102,
    CKA_MODULUS = 0x120,
    CKA_PUBLIC_EXPONENT = 0x122,
    CKA_EC_PARAMS = 0x180,
    CKA_EC_POINT = 0x181,
    CKM_RSA_PKCS_PSS = 0xD,
    CKM_SHA256 = 0x250,
    CKM_ECDSA = 0x1041,
    CKG_MGF1_SHA256 = 0x2,
    CKR_OK = 0x0,
    CKR_PIN_INCORRECT = 0xA0,
    CKR_PIN_LOCKED = 0xA4,
    CKR_USER_ALREADY_LOGGED_IN = 0x100,
    CKR_CRYPTOKI_ALREADY_INITIALIZED = 0x191,
};

#endif
